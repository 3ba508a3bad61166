"""Namespaces, and where the names in them come from, as far as the text of one file tells."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple


class Origin(NamedTuple):
    """Where a name comes from."""

    static: bool | None = None
    """Whether it is a member of a module, package or type rather than of an instance; None: the text does not tell."""
    package: str | None = None
    """Full name of the module or package it is defined in."""
    holder: str = ""
    """"module" or "class", where the members of the name are static ones."""


UNKNOWN = Origin()


@dataclass
class Scope:
    """One namespace, such as that of a module, class, function or block; each language has its own kinds."""

    kind: str
    parent: Scope | None = None
    names: dict[str, Origin] = field(default_factory=dict)
    self_name: str = ""
    """The name that a method has for its instance, where the language lets a person choose it, as `self` in Python."""

    def owner(self, name: str) -> Scope | None:
        """The innermost scope that defines the name, looking from here outwards; None if there is none."""
        scope: Scope | None = self
        while scope and name not in scope.names:
            scope = scope.parent
        return scope

    def find(self, name: str) -> Origin:
        """The origin of the name as its innermost definition has it; UNKNOWN if there is none."""
        scope = self.owner(name)
        return scope.names[name] if scope else UNKNOWN

    def enclosing(self, kind: str) -> Scope | None:
        """The innermost scope of that kind, looking from here outwards; None if there is none."""
        scope: Scope | None = self
        while scope and scope.kind != kind:
            scope = scope.parent
        return scope

    def instance_of(self, name: str) -> Scope | None:
        """The class in one of whose methods, around this place, the instance is called `name`; None if there is
        none."""
        scope: Scope | None = self
        while scope and scope.self_name != name:
            scope = scope.parent
        return scope.parent if scope else None
