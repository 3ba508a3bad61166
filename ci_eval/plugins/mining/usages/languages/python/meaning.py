"""The meaning of Python expressions and names, as far as it is known without running code: scopes, modules, imports."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import PurePosixPath
from typing import Literal

from ci_eval.core.grammar.syntax import Node
from ci_eval.core.model import Definition
from ci_eval.plugins.mining.trees import field_text, node_text
from ci_eval.plugins.mining.usages.gathering import Enclosing

Sort = Literal["object", "class", "module", "function", "imported", "this", "type parameter", "unknown"]

NOWHERE = Definition()


@dataclass(frozen=True, kw_only=True)
class Meaning:
    sort: Sort
    """Kind of meaning. `imported` is a name of another file, of which only the name is known."""
    name: str = ""
    """Fully qualified name: the type of an object, or the class, module or function itself."""
    element: str = ""
    """Type of what an object holds, such as `Foo` for a list[Foo]."""
    definition: Definition = NOWHERE
    scope: Scope | None = None
    """Scope of a class whose text is known."""
    returns: Meaning | None = None
    """Result of a function, if an annotation states it."""

    def with_definition(self, kind: str, member: str = "", argument: int | None = None) -> Meaning:
        return replace(self, definition=Definition(kind=kind, member=member, argument=argument))

    @property
    def is_typed(self) -> bool:
        return self.sort == "object" and bool(self.name)


UNKNOWN = Meaning(sort="unknown")


def instance(type_: str, kind: str = "UNKNOWN", member: str = "", element: str = "") -> Meaning:
    return Meaning(sort="object", name=type_, element=element, definition=Definition(kind=kind, member=member))


@dataclass(kw_only=True)
class Scope:
    kind: Literal["module", "class", "function", "inner"]
    """`inner`: a lambda or a comprehension."""
    qualified: str
    enclosing: Enclosing
    parent: Scope | None = None
    names: dict[str, Meaning] = field(default_factory=dict)
    attributes: dict[str, Meaning] = field(default_factory=dict)
    """Values that methods assign to self, if the scope is that of a class."""
    bases: tuple[str, ...] = ()
    """Base classes, if the scope is that of a class."""
    stars: list[str] = field(default_factory=list)
    """Modules that all names are imported from."""
    this: str = ""
    """First parameter of a method, unless the method is static."""

    def own_class(self) -> Scope | None:
        """Return the scope of the class that `self` is an object of."""
        scope: Scope | None = self
        while scope and not scope.this:
            scope = scope.parent
        return scope.parent if scope else None

    def is_this(self, name: str) -> bool:
        """Return whether the name is the first parameter of a method around."""
        scope: Scope | None = self
        while scope:
            if name in scope.names:
                return scope.this == name
            scope = scope.parent
        return False

    def find(self, name: str) -> Meaning | None:
        """Return the meaning of a name in this scope. Names of an outer function or the module become GLOBAL."""
        scope: Scope | None = self
        outside = False
        while scope:
            # Methods do not see the names of their class.
            if name in scope.names and not (outside and scope.kind == "class"):
                meaning = scope.names[name]
                if outside and meaning.sort in {"object", "unknown"}:
                    return meaning.with_definition("GLOBAL", f"{scope.qualified}.{name}")
                return meaning
            outside = outside or scope.kind != "inner"
            scope = scope.parent
        return None


ROOTS = ("src", "lib", "python")
"""Folders that packages lie in without being packages themselves."""


def qualify_module(path: str) -> str:
    # Recordings may have absolute paths, and those of Windows.
    parts = list(PurePosixPath(path.replace("\\", "/").lstrip("/")).with_suffix("").parts)
    while len(parts) > 1 and parts[0] in ROOTS:
        parts.pop(0)
    if len(parts) > 1 and parts[-1] == "__init__":
        parts.pop()
    return ".".join(parts)


def modules(paths: Iterable[str]) -> frozenset[str]:
    """Return the modules of all files of a project, with the packages that they are in."""
    modules_and_packages = set()
    for path in paths:
        parts = qualify_module(path).split(".")
        modules_and_packages |= {".".join(parts[:count]) for count in range(1, len(parts) + 1)}
    return frozenset(modules_and_packages)


def has_known_prefix(name: str, known: Collection[str]) -> bool:
    """Return whether the name or a beginning of it, cut at a dot, is known."""
    while name:
        if name in known:
            return True
        name = name.rpartition(".")[0]
    return False


def is_class_name(name: str) -> bool:
    """Return whether a name is spelled as classes are: capitalised, and not all capitals as constants are."""
    bare = name.lstrip("_")
    return bare[:1].isupper() and (not bare.isupper() or len(bare) == 1)


def import_bindings(source: bytes, node: Node, module: str, is_package: bool) -> Iterator[tuple[str, str, bool]]:
    """Yield for each name that an import binds: the name, its meaning, and whether that is surely a module.

    `module` is the module that holds the statement.
    """
    if node.type == "import_statement":
        for child in node.children[1:]:
            full = node_text(source, child.child_by_field_name("name") or child)
            alias = field_text(source, child, "alias")
            if child.is_named and full:
                yield (alias, full, True) if alias else (full.partition(".")[0], full.partition(".")[0], True)
        return
    origin = node.child_by_field_name("module_name")
    if origin is None:
        return
    start = absolute(node_text(source, origin), module, is_package)
    for child in node.children:
        if child.type == "wildcard_import":
            yield "*", start, True
        elif child.start_byte >= origin.end_byte and child.type in {"dotted_name", "aliased_import", "identifier"}:
            name = node_text(source, child.child_by_field_name("name") or child)
            alias = field_text(source, child, "alias")
            yield alias or name, f"{start}.{name}".lstrip("."), False


def absolute(name: str, module: str, is_package: bool) -> str:
    """Return the qualified name of a module, which an import may name with dots in front."""
    name = name.replace(" ", "")
    bare = name.lstrip(".")
    if bare == name:
        return name
    parts = module.split(".")
    # In a package's own file, one dot means the package.
    up = len(name) - len(bare) - is_package
    base = parts[: len(parts) - up] if up else parts
    return ".".join([*base, *([bare] if bare else [])])
