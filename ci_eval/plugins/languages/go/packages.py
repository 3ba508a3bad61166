"""The packages of Go: the top-level declarations and imports of a file, and whether imported packages exist."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

from ci_eval.core.base.files import exists, is_own, read_own
from ci_eval.core.contracts import Declarations
from ci_eval.core.grammar.scopes import Origin
from ci_eval.core.grammar.syntax import Node, SourceReader
from ci_eval.core.import_syntax import FlatModules, Import, Imports, ImportSyntax, keep_shared_names

_TYPES = (
    "any bool byte comparable complex128 complex64 error float32 float64 int int16 int32 int64 int8 rune string uint "
    "uint16 uint32 uint64 uint8 uintptr"
).split()
_FUNCTIONS = (
    "append cap clear close complex copy delete imag len make max min new panic print println real recover"
).split()
UNIVERSE = {
    **dict.fromkeys(_TYPES, Origin(True, "builtin", "class")),
    **dict.fromkeys(_FUNCTIONS, Origin(True, "builtin")),
}
"""The predeclared names (Go's universe block) without constants."""

_STANDARD = frozenset(
    "archive bufio builtin bytes cmp compress container context crypto database debug embed encoding errors expvar "
    "flag fmt go hash html image index io iter log maps math mime net os path plugin reflect regexp runtime slices "
    "sort strconv strings structs sync syscall testing text time unicode unique unsafe weak".split()
)
"""The first parts of import paths in the standard library."""

_CLAUSE = re.compile(r"^package[ \t]+(\w+)", re.MULTILINE)
_TOP = re.compile(r"^(?:func|type|var|const) (\w+)(?:, *(\w+))?", re.MULTILINE)
_GROUP = re.compile(r"^(?:func|type|var|const) \((?=\n)", re.MULTILINE)
# gofmt indents the contents of a group by one tab.
_IN_GROUP = re.compile(r"\n\t(\w+)(?:, *(\w+))?")
_VERSION = re.compile(r"\.?v\d+")


def derive_package(text: str, path: str) -> str:
    """Return the folder of the file, or, for the project's root folder, the name in the package clause."""
    clause = _CLAUSE.search(text)
    name = clause[1] if clause else ""
    folder = PurePosixPath(path).parent.as_posix()
    if folder == ".":
        return name or "main"
    # Tests may be a second package in the same folder.
    return f"{folder}_test" if name.endswith("_test") and path.endswith("_test.go") else folder


def declare(text: str, path: str) -> tuple[str, frozenset[str]]:
    names: set[str] = set()
    names.update(*_TOP.findall(text))
    # gofmt closes a group with a parenthesis at the beginning of a line.
    for part in text.split("\n)")[:-1]:
        if group := _GROUP.search(part):
            names.update(*_IN_GROUP.findall(part, group.end()))
    # Code cannot refer to `init` or `_`.
    return derive_package(text, path), frozenset(names - {"", "_", "init"})


def imported_package(path: str, declared: Declarations) -> str:
    """Return the longest end of an import path that is a folder of the project, or else the import path itself."""
    if path.partition("/")[0] in _STANDARD:
        return path
    # The first parts are the address of the module, such as `example.org/project`, and not a folder.
    parts = path.split("/")
    ends = ("/".join(parts[i:]) for i in range(len(parts)))
    return next((end for end in ends if end in declared), path)


def local_name(path: str) -> str:
    """Return the usual name of a package imported without an alias."""
    parts = path.split("/")
    # `example.org/x/v2` is version 2 of x; gopkg.in uses `x.v2`.
    if len(parts) > 1 and _VERSION.fullmatch(parts[-1]):
        parts.pop()
    last = re.sub(r"\.v\d+$", "", parts[-1])
    # Names of repositories often add `go` to the name of the package, as in `go-x`.
    return last.removeprefix("go-").removesuffix("-go").removesuffix(".go")


class TopLevel(SourceReader):
    def __init__(self, source: bytes, package: str, declared: Declarations) -> None:
        super().__init__(source)
        self._package = package
        self._declared = declared
        self.names = dict.fromkeys(declared.get(package, ()), Origin(True, package))
        self.members: dict[str, set[str]] = {}
        """The name of a type → its fields and methods in this file."""
        self.types: dict[str, Node] = {}
        """The name of a type → its definition."""

    def read(self, root: Node) -> dict[str, Origin]:
        """Return the origins of the file's declarations and imports, and of the other names in its package."""
        for node in root.children:
            name = node.child_by_field_name("name")
            if node.type == "function_declaration" and name:
                self.names[self.text(name)] = Origin(True, self._package)
            elif node.type == "method_declaration":
                receiver = next((child for child in node.children if child.type == "parameter_list"), None)
                of = receiver_type(receiver) if receiver else None
                if of and name:
                    self.members.setdefault(self.text(of), set()).add(self.text(name))
            for child in node.children if node.type.endswith("_declaration") else ():
                # A group has its declarations in a list.
                for spec in child.children if child.type.endswith("_spec_list") else [child]:
                    self._read_spec(spec)
        return self.names

    def _read_spec(self, spec: Node) -> None:
        name, stands_for = spec.child_by_field_name("name"), spec.child_by_field_name("type")
        path = spec.child_by_field_name("path")
        if spec.type == "import_spec" and path:
            written = self.text(path).strip('"`')
            origin = Origin(True, imported_package(written, self._declared), "module")
            self.names[self.text(name) if name else local_name(written)] = origin
        elif spec.type in {"var_spec", "const_spec"}:
            names = [self.text(child) for child in spec.children if child.type == "identifier"]
            self.names.update(dict.fromkeys(names, Origin(True, self._package)))
        elif spec.type in {"type_spec", "type_alias"} and name:
            self.names[self.text(name)] = Origin(True, self._package, "class")
            if not stands_for:
                return
            self.types[self.text(name)] = stands_for
            members = self.members.setdefault(self.text(name), set())
            # Embedded types may be declared in any file, so their members are not collected here.
            for field in (field for part in (stands_for, *stands_for.children) for field in part.children):
                if field.type in {"field_declaration", "method_elem"}:
                    members.update(self.text(child) for child in field.children if child.type == "field_identifier")


def receiver_type(parameters: Node) -> Node | None:
    """Return the name of the type in `(t *Type[T])`, or None if there is none."""
    node = next((child for child in parameters.children if child.type == "parameter_declaration"), None)
    while node and node.type != "type_identifier":
        kinds = {"type_identifier", "pointer_type", "generic_type", "parenthesized_type"}
        node = next((child for child in node.children if child.type in kinds), None)
    return node


_STATEMENT = re.compile(r"^import[ \t]*(?:\((?P<block>[^)]*)\)|(?P<one>[^\n]*))\n?", re.MULTILINE)
_SPEC = re.compile(r"^[ \t]*(?:(?P<alias>[\w.]+)[ \t]+)?\"(?P<path>[^\"\n]+)\"[^\n]*\n?", re.MULTILINE)
_VERSION_END = re.compile(r"/v\d+$|\.v\d+$")


def read(text: str) -> list[Import]:
    """Return the imports. A package without an alias is named by the last part of its path, without the version."""
    imports: list[Import] = []
    for statement in _STATEMENT.finditer(text):
        in_block = statement["block"] is not None
        begin = statement.start("block" if in_block else "one")
        for spec in _SPEC.finditer(statement["block"] if in_block else statement["one"]):
            path, alias = spec["path"], spec["alias"]
            name = alias or _VERSION_END.sub("", path).rpartition("/")[2]
            span = (begin + spec.start(), begin + spec.end()) if in_block else statement.span()
            imports.append(Import(name, path, "", *span, removable=alias is None and name.isidentifier()))
    return keep_shared_names(imports)


SYNTAX = ImportSyntax(read=read, modules=FlatModules)


MODULE = re.compile(r"^module[ \t]+\"?([^\s\"]+)", re.MULTILINE)


def imports(root: Path, environment: Path | None) -> Imports:
    """Return a function that checks the imports of a file. As in the `go` command, a path belongs to the standard
    library if its first part has no dot."""
    # The project's own modules take precedence over cached versions of them.
    modules = dict(_cached_modules(environment / "modules") if environment else ())
    for file in sorted(root.rglob("go.mod")):
        text = read_own(root, str(file.relative_to(root))).decode(errors="replace") if is_own(file, root) else ""
        if clause := MODULE.search(text):
            modules[clause[1]] = file.parent

    def there(_path: str, text: str) -> Iterator[tuple[str, bool]]:
        for name in (item.module for item in read(text)):
            parts = name.split("/")
            known = "." not in parts[0] or exists(root / "vendor" / name)
            # The path of a module may extend another module's path, so try the longest path first.
            for number in range(len(parts), 0, -1):
                if module := modules.get("/".join(parts[:number])):
                    known = exists(module.joinpath(*parts[number:]))
                    break
            # Most modules are repositories, whose addresses have three parts.
            yield "/".join(parts[:3]), known

    return there


def _cached_modules(modules: Path) -> Iterator[tuple[str, Path]]:
    for folder, below, _ in os.walk(modules):
        for name in sorted(name for name in below if "@" in name):
            path = Path(folder, name)
            # The module cache writes a capital letter such as `A` as `!a` because some file systems ignore case.
            escaped = str(path.relative_to(modules)).rpartition("@")[0]
            yield re.sub("!(.)", lambda letter: letter[1].upper(), escaped), path
        # Modules in the cache are not nested, and the folder `cache` has only their archives.
        below[:] = [name for name in below if "@" not in name and (folder != str(modules) or name != "cache")]
