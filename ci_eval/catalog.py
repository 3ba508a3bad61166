"""Finds the variants of one kind, such as metrics or engines, by listing their folder."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from difflib import get_close_matches
from functools import cache
from importlib import import_module
from pkgutil import iter_modules
from typing import Generic, TypeVar, cast

from ci_eval.errors import ConfigError

T = TypeVar("T")


class Catalog(Generic[T]):
    """The variants in a package: each is a module that ends in a value with the same name and type."""

    def __init__(
        self, package: str, value: str, *, spelling: Callable[[str], str] = str, belongs: Callable[[str], bool] = bool
    ) -> None:
        """List the modules of `package`, each of which ends in a value called `value`.

        `spelling`: turns a module's name into the word that users write. `belongs`: whether a module is of this kind,
        where a package holds several kinds.
        """
        self._belongs = belongs
        self._package = package
        self._value = value
        self._spelling = spelling

    def names(self) -> list[str]:
        """The names that users write, sorted."""
        return sorted(self._modules())

    def load(self, name: str) -> T:
        """The variant of that name. Raises ConfigError, which suggests similar names."""
        modules = self._modules()
        if name not in modules:
            raise ConfigError(self._unknown(name, sorted(modules)))
        return cast("T", getattr(import_module(modules[name]), self._value))

    def all(self) -> list[T]:
        """All variants, in order of their names."""
        return [self.load(name) for name in self.names()]

    def _modules(self) -> dict[str, str]:
        found = _modules(self._package, self._spelling)
        return {name: module for name, module in found.items() if self._belongs(name)}

    def _unknown(self, name: str, known: list[str]) -> str:
        near = get_close_matches(name, known, n=1) or get_close_matches(self._spelling(name.lower()), known, n=1)
        kind = {"RANKER": "completion type", "FORMAT": "log format"}.get(self._value, self._value.lower())
        hint = f"did you mean {near[0]!r}? " if near else ""
        return f"unknown {kind} {name!r}: {hint}known are {', '.join(known)}"


def guess(given: str, known: Iterable[str]) -> str:
    """ "; did you mean X?" where one of the known names is similar, else ""."""
    spelled = {name.lower(): name for name in known}
    close = get_close_matches(given.lower().replace("-", "").replace(" ", ""), spelled, n=1)
    return f"; did you mean {spelled[close[0]]}?" if close else ""


@cache
def _modules(package: str, spelling: Callable[[str], str]) -> dict[str, str]:
    path = import_module(package).__path__
    return {spelling(found.name): f"{package}.{found.name}" for found in iter_modules(path)}
