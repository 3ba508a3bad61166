"""The imports of Python: reads `from module import name` and checks whether modules exist."""

from __future__ import annotations

import ast
import re
import sys
import sysconfig
import warnings
from collections import Counter, deque
from collections.abc import Iterator, Sequence
from importlib.machinery import all_suffixes
from itertools import accumulate, chain, pairwise
from pathlib import Path
from typing import Any

from ci_eval.core.base.files import exists, is_own
from ci_eval.core.base.workspaces import source_roots
from ci_eval.core.grammar.document import NotText, code_points, read_text
from ci_eval.core.grammar.imports import Exports, ReExportingModules
from ci_eval.core.import_syntax import Import, Imports, ImportSyntax, Origin, Project

UNREADABLE = (SyntaxError, ValueError, RecursionError, MemoryError)
"""The errors that Python's parser raises if it cannot read a text."""


def read(text: str) -> list[Import]:
    """Return the `from` imports of a text, or none if this version of Python cannot parse it."""
    tree = _compile(text, ast.PyCF_ONLY_AST)
    if tree is None:
        return []
    nodes = list(_walk(tree))
    statements = [node for node in nodes if isinstance(node, ast.Import | ast.ImportFrom)]
    names = Counter(alias.asname or alias.name.partition(".")[0] for node in statements for alias in node.names)
    lines = _Lines(text)
    conditions = ((node, node.test) for node in nodes if isinstance(node, ast.If))
    checks = (
        node for node, test in conditions if "TYPE_CHECKING" in {getattr(test, "id", ""), getattr(test, "attr", "")}
    )
    unrun = {below for check in checks for statement in check.body for below in ast.walk(statement)}
    imports: list[Import] = []
    for node in statements:
        if isinstance(node, ast.ImportFrom):
            module = "." * node.level + (node.module or "")
            for alias, (begin, end) in zip(node.names, lines.spans(node), strict=True):
                plain = alias.asname is None and alias.name != "*" and module != "__future__"
                at_top = node in tree.body and lines.is_alone(node)
                name = alias.asname or alias.name
                removable = plain and at_top and names[name] == 1
                imports.append(Import(name, module, alias.name, begin, end, removable, node not in unrun))
    return imports


def _walk(tree: ast.Module) -> Iterator[ast.AST]:
    """Yield the nodes of `ast.walk` in order, but no expressions, which are most of a tree and hold no statements."""
    waiting = deque[ast.AST]([tree])
    while waiting:
        yield (node := waiting.popleft())
        for field in ("body", "handlers", "orelse", "finalbody", "cases"):
            waiting += getattr(node, field, ())


def _compile(text: str, flags: int = 0) -> Any:
    """Return the compiled code, or the tree for ast.PyCF_ONLY_AST; None if Python cannot read the text."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return compile(text, "<text>", "exec", flags, dont_inherit=True)
        except UNREADABLE:
            return None


class _Lines:
    """The lines of a text. They convert columns of `ast` (in UTF-8 bytes) to offsets (in code points)."""

    def __init__(self, text: str) -> None:
        self._data = text.encode()
        self._points = code_points(self._data)
        self._begins = list(accumulate((len(line) + 1 for line in self._data.split(b"\n")), initial=0))

    def offset(self, line: int, column: int) -> int:
        return self._points[min(self._begins[line - 1] + column, len(self._data))]

    def is_alone(self, node: ast.ImportFrom) -> bool:
        """Return whether the statement's lines have no other code. A comment may follow the statement."""
        last = node.end_lineno or node.lineno
        after = self._data[self._begins[last - 1] + (node.end_col_offset or 0) : self._begins[last] - 1].strip()
        return node.col_offset == 0 and (not after or after.startswith(b"#"))

    def spans(self, node: ast.ImportFrom) -> Iterator[tuple[int, int]]:
        """Yield, for each name in the statement, the range to delete in order to remove that name."""
        if len(node.names) == 1:
            yield self.offset(node.lineno, 0), self.offset((node.end_lineno or node.lineno) + 1, 0)
            return
        begins = [self.offset(alias.lineno, alias.col_offset) for alias in node.names]
        ends = [
            self.offset(alias.end_lineno or alias.lineno, alias.end_col_offset or alias.col_offset)
            for alias in node.names
        ]
        yield from pairwise(begins)
        yield ends[-2], ends[-1]


def errors(text: str, _grammar: str) -> int:
    """Return 1 if Python cannot compile the text, else 0. The text is not executed."""
    # Parsing is not enough: only the compiler rejects a `__future__` import after other statements.
    return int(_compile(text) is None)


class PythonModules(ReExportingModules):
    """The modules of a Python project, of its dependencies, and of the standard library."""

    def __init__(self, project: Project) -> None:
        super().__init__(project)
        self._roots = source_roots(self._root) if project.sources is None else project.sources
        environment = project.environment
        installed = sorted(environment.glob("lib/python*/site-packages")) if environment else []
        self._libraries = (*installed, Path(sysconfig.get_path("stdlib")))

    def find(self, importing: Path, module: str) -> Path | None:
        name = module.lstrip(".")
        parts = name.split(".") if name else []
        folders: Sequence[Path] = (importing.parent, *importing.parents[1:])
        if above := len(module) - len(name):
            tops: Sequence[Path] = folders[above - 1 : above]
        else:
            own = [folder for folder in folders if folder.is_relative_to(self._root)]
            tops = (self._root, *self._roots, *own, *self._libraries)
        for top in tops:
            base = top.joinpath(*parts)
            for file in (base.with_name(base.name + ".py"), base / "__init__.py", base / "__init__.pyi"):
                if is_own(file, self._top(file)):
                    return file
        return None

    def _top(self, file: Path) -> Path:
        return next((top for top in (self._root, *self._libraries) if file.is_relative_to(top)), self._root)

    def find_submodule(self, file: Path, name: str) -> Path | None:
        # The modules of a package are its members, even if the package does not import them.
        return self.find(file, f".{name}") if file.stem == "__init__" else None

    def read_exports(self, file: Path) -> Exports:
        named: dict[str, Origin | None] = {}
        stars: list[str] = []
        top = self._top(file)
        try:
            tree = _compile(read_text(top, str(file.relative_to(top))), ast.PyCF_ONLY_AST)
        except (NotText, OSError):
            tree = None
        for node in _statements(tree.body if tree else []):
            if isinstance(node, ast.ImportFrom):
                module = "." * node.level + (node.module or "")
                stars += [module for alias in node.names if alias.name == "*"]
                for alias in node.names:
                    named.setdefault(alias.asname or alias.name, (module, alias.name))
            elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                named.setdefault(node.name, None)
            elif isinstance(node, ast.Assign | ast.AnnAssign):
                targets = node.targets if isinstance(node, ast.Assign) else [node.target]
                for name in (part for target in targets for part in ast.walk(target)):
                    if isinstance(name, ast.Name):
                        named.setdefault(name.id, None)
        return named, stars


def _statements(body: Sequence[ast.stmt]) -> Iterator[ast.stmt]:
    for node in body:
        if isinstance(node, ast.If):
            yield from _statements([*node.body, *node.orelse])
        elif isinstance(node, ast.Try):
            yield from _statements([*node.body, *(part for handler in node.handlers for part in handler.body)])
        else:
            yield node


SYNTAX = ImportSyntax(read=read, joins=True, modules=PythonModules, errors=errors)


IMPORT = re.compile(r"^[ \t]*(?:from[ \t]+(\.*[\w.]*)[ \t]+import\b|import[ \t]+([\w., \t]+))", re.MULTILINE)

NO_CODE = re.compile(
    r"""(\"{3}|'{3})(?:[^\\]|\\.)*?\1|"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'|\#[^\n]*""", re.DOTALL | re.VERBOSE
)
"""The pattern of strings, whose lines may look like imports (such as examples in docstrings), and of comments, which
may contain quotes."""

KNOWN = sys.stdlib_module_names | {"_typeshed"}
"""The modules that need no file. `_typeshed` exists only for type checkers, and code imports it for them."""
SUFFIXES = (".pyi", *all_suffixes())


def imports(root: Path, environment: Path | None) -> Imports:
    """Return a function that checks the imports of a file. A module exists if its file (which may be compiled) or
    folder exists, or if it is in the standard library of this version of Python."""
    roots = source_roots(root)
    site = list(environment.glob("lib/python*/site-packages")) if environment else []

    def there(path: str, text: str) -> Iterator[tuple[str, bool]]:
        own_folder = (root / path).parent
        # Engines search the same folders: the root, the project's packages, and the folders above the file.
        tops = [*roots, *site, *(folder for folder in (own_folder, *own_folder.parents) if folder.is_relative_to(root))]
        found = IMPORT.findall(NO_CODE.sub("", text))
        # The first word of a part is the name. `as` and an alias may follow.
        listed = (
            [source] if source else [part.split()[0] for part in parts.split(",") if part.strip()]
            for source, parts in found
        )
        for name in chain.from_iterable(listed):
            module = name.lstrip(".")
            if above := len(name) - len(module):
                folders = (own_folder, *own_folder.parents)
                yield name, _is_module(folders[min(above, len(folders) - 1) - 1], module)
            else:
                package = module.partition(".")[0]
                yield package, package in KNOWN or any(_is_module(top, module) for top in tops)

    return there


def _is_module(top: Path, name: str) -> bool:
    path = top.joinpath(*filter(None, name.split(".")))
    return exists(path) or any(exists(path.with_name(path.name + suffix)) for suffix in SUFFIXES)
