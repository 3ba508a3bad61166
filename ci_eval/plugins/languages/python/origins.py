"""The origins of the names in a Python file: from its text (imports, definitions, scopes), or else from jedi."""

from __future__ import annotations

import builtins
import os
import platform
import re
from collections.abc import Iterator, Sequence
from functools import cache
from importlib.metadata import version
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from msgspec.structs import replace

from ci_eval.core.grammar.document import line_and_column
from ci_eval.core.grammar.scopes import UNKNOWN, Origin, Scope
from ci_eval.core.grammar.syntax import Node, SourceReader
from ci_eval.core.model import Kind, Token

if TYPE_CHECKING:
    import jedi
    from jedi.api.classes import Name

# The built-in names of the Python that runs ci-eval.
BUILTINS = frozenset(dir(builtins))
LITERALS = {
    "string": "str",
    "concatenated_string": "str",
    "integer": "int",
    "float": "float",
    "list": "list",
    "list_comprehension": "list",
    "dictionary": "dict",
    "dictionary_comprehension": "dict",
    "set": "set",
    "set_comprehension": "set",
    "tuple": "tuple",
}
"""The type of a literal's node → its built-in type."""
_BLOCKS = frozenset(
    "if_statement else_clause elif_clause try_statement except_clause with_statement block decorated_definition".split()
)
_CHAIN = re.compile(r"[^\W\d]\w*(?:\.[^\W\d]\w*)*")


class PythonScope(Scope):
    """A scope of Python, with Python's rules for looking up names."""

    def find(self, name: str) -> Origin:
        """Return the origin of a name. The names of a class are not visible in its methods."""
        if name in self.names:
            return self.names[name]
        scope = self.parent
        while scope:
            if scope.kind != "class" and name in scope.names:
                return scope.names[name]
            scope = scope.parent
        return Origin(True, "builtins", "class") if name in BUILTINS else UNKNOWN


def dotted_module(path: str) -> str:
    """Return the dotted name of a module: `flask.json` for `src/flask/json/__init__.py`."""
    parts = list(PurePosixPath(path).with_suffix("").parts)
    # These folders are on Python's path, so they are not part of a module's name.
    if parts[0] in {"src", "lib"} and len(parts) > 1:
        del parts[0]
    return ".".join(parts[:-1] if parts[-1] == "__init__" and len(parts) > 1 else parts)


def absolute_module(name: str, importing: str, is_package: bool) -> str:
    """Return the absolute name of a module: `flask.app` for `.app` in the module `flask.views`."""
    level = len(name) - len(name.lstrip("."))
    if not level:
        return name
    parts = importing.split(".")
    # In `__init__.py`, a single dot refers to the package itself.
    base = parts[: len(parts) - level + is_package]
    return ".".join([*base, *filter(None, [name[level:].strip()])])


# The end of the pattern excludes `x == 1`.
_TOP = re.compile(r"^(?:(?:async )?def|class) (\w+)|^(\w+)(?=\s*[:=][^=])", re.MULTILINE)


def declare(text: str, path: str) -> tuple[str, frozenset[str]]:
    return dotted_module(path), frozenset(definition or variable for definition, variable in _TOP.findall(text))


class PythonNames(SourceReader):
    def __init__(self, source: bytes, path: str) -> None:
        super().__init__(source)
        self._is_package = PurePosixPath(path).stem == "__init__"
        self.module = dotted_module(path)

    def top_level(self, root: Node) -> dict[str, Origin]:
        """Return the imports and definitions at the top level of the module. Its functions know them from the start."""
        origins: dict[str, Origin] = {}
        stack = list(root.children)
        while stack:
            node = stack.pop()
            if node.type in {"import_statement", "import_from_statement"}:
                origins.update(self.imported(node))
            elif node.type in {"function_definition", "class_definition"}:
                name = node.child_by_field_name("name")
                if name:
                    origins[self.text(name)] = self.definition_origin(node, "module")
            elif node.type in _BLOCKS:
                stack.extend(node.children)
        return origins

    def definition_origin(self, definition: Node, scope: str) -> Origin:
        holder = "class" if definition.type == "class_definition" else ""
        # Whether a method needs an instance depends on its decorators, which are not evaluated.
        return Origin(True if scope == "module" else None, self.module, holder)

    def imported(self, statement: Node) -> Iterator[tuple[str, Origin]]:
        """Yield the names that an import defines. `import a.b` defines `a`, and `a.b` for the lookup of chains."""
        source = statement.child_by_field_name("module_name")
        package = self.absolute(self.text(source)) if source else None
        for child in statement.children:
            if child.type not in {"aliased_import", "dotted_name"} or (
                source and child.start_byte == source.start_byte
            ):
                continue
            name = self.text(child.children[0] if child.type == "aliased_import" else child)
            alias = self.text(child.children[-1]) if child.type == "aliased_import" else name
            if package is not None:
                # By convention, a name that begins with a capital letter is a class.
                yield alias, Origin(True, package, "class" if name[:1].isupper() else "")
                continue
            yield alias, Origin(True, name, "module")
            if alias == name and "." in name:
                head = name.partition(".")[0]
                yield head, Origin(True, head, "module")

    def absolute(self, module: str) -> str:
        return absolute_module(module, self.module, self._is_package)

    def member(self, receiver: Node, name: str, scope: Scope) -> Origin:
        if receiver.type == "identifier":
            holder = self.text(receiver)
            if owner := scope.find_instance_class(holder):
                # By convention, `cls` is the class itself.
                return Origin(holder == "cls", self.module if name in owner.names else None)
            origin = scope.find(holder)
            return Origin(True, origin.package) if origin.holder else Origin()
        if receiver.type in LITERALS:
            return Origin(False, "builtins")
        if receiver.type == "attribute" and _CHAIN.fullmatch(chain := self.text(receiver)):
            # Only a chain that is an imported module, such as `os.path`, has a known origin.
            exact = scope.find(chain)
            head, _, last = chain.rpartition(".")
            module = scope.find(head) if last[:1].isupper() else UNKNOWN
            known = exact if exact.holder else module if module.holder == "module" else UNKNOWN
            return Origin(True, known.package) if known.holder else Origin()
        if receiver.type == "call" and receiver.children[0].type == "identifier":
            called = scope.find(self.text(receiver.children[0]))
            if called.holder == "class":
                return Origin(False, called.package)
        return Origin()


RESOLVER = f"jedi {version('jedi')}, Python {platform.python_version()}"
_LIBRARY = Path(os.__file__).parent
_NEVER_RESOLVED = {Kind.KEYWORD, Kind.ARGUMENT_NAME, Kind.IMPORT}


def resolve(root: Path, path: str, text: str, tokens: Sequence[Token]) -> list[Token]:
    """Return the tokens with `is_static` and `package` added if jedi knows them. jedi runs no code of the project."""
    import jedi

    project, environment = prepare_jedi(root)
    script = jedi.Script(text, path=root / path, project=project, environment=environment)
    return [_resolve_token(script, text, token) for token in tokens]


def prepare_jedi(root: Path | None) -> tuple[jedi.Project, jedi.InterpreterEnvironment]:
    """Return jedi's project and environment. With them, jedi sees the standard library and the folder `root`, but not
    the packages installed with ci-eval. jedi runs no code of the project."""
    import jedi  # the import is slow, and most commands do not need it

    # By default, jedi imports the modules in this setting instead of reading them, which runs their code.
    jedi.settings.auto_import_modules = []
    jedi.settings.cache_directory = _cache_folder().name
    path = [str(_LIBRARY), str(_LIBRARY / "lib-dynload")]
    project = jedi.Project(root or _cache_folder().name, sys_path=path, load_unsafe_extensions=False)
    # jedi's other environments start a separate Python process.
    return project, jedi.InterpreterEnvironment()


@cache
def _cache_folder() -> TemporaryDirectory[str]:
    # Processes do not share a folder because parso checks a cached file only by its date.
    return TemporaryDirectory(prefix="ci-eval-", ignore_cleanup_errors=True)


def _resolve_token(script: jedi.Script, text: str, token: Token) -> Token:
    known = token.properties
    if known.kind in _NEVER_RESOLVED or (known.is_static is not None and known.package is not None):
        return token
    line, column = line_and_column(text, token.offset)
    # jedi counts lines from 1, but columns from 0.
    targets: list[Name] = script.goto(line + 1, column, follow_imports=True)
    if not targets:
        return token
    target, static = targets[0], known.is_static
    # A module, a class, a member of a module and a class attribute need no instance.
    if static is None and target.type in {"module", "class"}:
        static = True
    elif static is None and (parent := target.parent()) is not None:
        static = parent.type == "module" or (parent.type == "class" and target.type == "statement")
    package = known.package or target.module_name or None
    return replace(token, properties=replace(known, is_static=static, package=package))
