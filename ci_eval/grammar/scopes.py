"""Namespaces of a program, and where the names in them come from, as far as the text of one file says."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple


class Origin(NamedTuple):
    """Where a name comes from."""

    static: bool | None = None
    """Whether it is a member of a module, package or type rather than of an instance; None = the text does not say."""
    package: str | None = None
    """Full name of the module or package it is defined in."""
    holder: str = ""
    """"module" or "class" for a name through which static members are reached."""


UNKNOWN = Origin()


@dataclass
class Scope:
    """One namespace: of a module, class, function, block …; which kinds there are is up to the language."""

    kind: str
    parent: Scope | None = None
    names: dict[str, Origin] = field(default_factory=dict)
    self_name: str = ""
    """The name for the instance, where this is a method of a language that lets a person choose it."""

    def owner(self, name: str) -> Scope | None:
        """The innermost scope, from here outwards, that defines the name."""
        scope: Scope | None = self
        while scope and name not in scope.names:
            scope = scope.parent
        return scope

    def find(self, name: str) -> Origin:
        """Where the innermost definition of the name comes from; UNKNOWN if there is none."""
        scope = self.owner(name)
        return scope.names[name] if scope else UNKNOWN

    def enclosing(self, kind: str) -> Scope | None:
        """The innermost scope of that kind, from here outwards."""
        scope: Scope | None = self
        while scope and scope.kind != kind:
            scope = scope.parent
        return scope

    def instance_of(self, name: str) -> Scope | None:
        """The class whose methods call its instance `name`."""
        scope: Scope | None = self
        while scope and scope.self_name != name:
            scope = scope.parent
        return scope.parent if scope else None
