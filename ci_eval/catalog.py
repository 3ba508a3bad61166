"""Finds the variants of one kind by listing their folder."""

from __future__ import annotations

from collections.abc import Callable
from difflib import get_close_matches
from functools import cache
from importlib import import_module
from pkgutil import iter_modules
from typing import Generic, TypeVar, cast

from ci_eval.errors import ConfigError

T = TypeVar("T")


class Catalog(Generic[T]):
    """The variants in a package: one module each, each ending in a value of the same name and type."""

    def __init__(
        self, package: str, value: str, *, spelling: Callable[[str], str] = str, belongs: Callable[[str], bool] = bool
    ) -> None:
        """`spelling` turns a module's name into the word users write; `belongs`: where a folder holds two kinds."""
        self._belongs = belongs
        self._package = package
        self._value = value
        self._spelling = spelling

    def names(self) -> list[str]:
        """The words users write, sorted."""
        return sorted(self._modules())

    def load(self, name: str) -> T:
        """The variant of that name. Raises ConfigError with the nearest names."""
        modules = self._modules()
        if name not in modules:
            raise ConfigError(self._unknown(name, sorted(modules)))
        return cast("T", getattr(import_module(modules[name]), self._value))

    def all(self) -> list[T]:
        """Every variant, in order of name."""
        return [self.load(name) for name in self.names()]

    def _modules(self) -> dict[str, str]:
        found = _modules(self._package, self._spelling)
        return {name: module for name, module in found.items() if self._belongs(name)}

    def _unknown(self, name: str, known: list[str]) -> str:
        near = get_close_matches(name, known, n=1) or get_close_matches(self._spelling(name.lower()), known, n=1)
        kind = {"RANKER": "completion type", "FORMAT": "log format"}.get(self._value, self._value.lower())
        hint = f"did you mean {near[0]!r}? " if near else ""
        return f"unknown {kind} {name!r}: {hint}known are {', '.join(known)}"


@cache
def _modules(package: str, spelling: Callable[[str], str]) -> dict[str, str]:
    path = import_module(package).__path__
    return {spelling(found.name): f"{package}.{found.name}" for found in iter_modules(path)}
