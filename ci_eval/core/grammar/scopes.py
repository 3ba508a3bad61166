"""The namespaces of a file, and the origins of their names as far as the file's text shows them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import msgspec


class Origin(NamedTuple):
    static: bool | None = None
    """True for a member of a module, package or type, False for a member of an instance, None if that is not known."""
    package: str | None = None
    """The full name of the module or package that defines the name."""
    holder: str = ""
    """The kind of the named thing: "module" or "class" if its members are static, or a kind of one language."""


UNKNOWN = Origin()
LOCAL = Origin(False)
LOCAL_TYPE = Origin(False, None, "class")


class Scope(msgspec.Struct):
    """A namespace, such as that of a module, class, function or block; each language has its own kinds."""

    kind: str
    parent: Scope | None = None
    names: dict[str, Origin] = msgspec.field(default_factory=dict)
    self_name: str = ""
    """The name of the instance in a method (such as `self`), in languages that let users choose that name."""

    def owner(self, name: str) -> Scope | None:
        scope: Scope | None = self
        while scope and name not in scope.names:
            scope = scope.parent
        return scope

    def find(self, name: str) -> Origin:
        """Return the origin of the name in the innermost scope that defines it; UNKNOWN if no scope does."""
        scope: Scope | None = self
        while scope is not None:
            origin = scope.names.get(name)
            if origin is not None:
                return origin
            scope = scope.parent
        return UNKNOWN

    def around(self) -> Iterator[Scope]:
        """Yield this scope and its outer scopes, the innermost first."""
        scope: Scope | None = self
        while scope:
            yield scope
            scope = scope.parent

    def enclosing(self, kind: str) -> Scope | None:
        return next((scope for scope in self.around() if scope.kind == kind), None)

    def find_instance_class(self, name: str) -> Scope | None:
        # The parent of a method's scope is its class.
        return next((scope.parent for scope in self.around() if scope.self_name == name), None)
