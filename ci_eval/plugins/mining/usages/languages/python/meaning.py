"""The meaning of Python expressions and names, as far as it is known without running code."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Literal

from ci_eval.core.model import Definition
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
        """Return whether it is an object whose type is known."""
        return self.sort == "object" and bool(self.name)


UNKNOWN = Meaning(sort="unknown")


def instance(type_: str, kind: str = "UNKNOWN", member: str = "", element: str = "") -> Meaning:
    return Meaning(sort="object", name=type_, element=element, definition=Definition(kind=kind, member=member))


@dataclass(kw_only=True)
class Scope:
    """The names of a module, a class, a function or a comprehension."""

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
