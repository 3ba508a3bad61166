"""The interfaces for the imports of a language: a reader of imported packages, and the syntax of imports."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import NamedTuple, Protocol

import msgspec

Imports = Callable[[str, str], Iterable[tuple[str, bool]]]
"""A function: a file's path below the project, its text → for each import, the package and whether it is available."""


class Import(NamedTuple):
    name: str
    module: str
    original: str
    """The object's name in the module; "" if the module itself is imported."""
    begin: int
    end: int
    """The text that is removed with the import is from `begin` to before `end`, in code points."""
    removable: bool
    """True if the import is at the top of the file, has no alias, and is the only import of the name."""
    runs: bool = True
    """False if only type checkers read the import, such as below Python's `if TYPE_CHECKING:`."""


Origin = tuple[str, str]
"""The module that declares an object, and the object's name in that module."""


class Project(NamedTuple):
    root: Path
    environment: Path | None
    sources: tuple[Path, ...] | None = None
    """The folders that contain the project's own packages. If None, the project's configuration files name them."""


class Modules(Protocol):
    def identify(self, path: str, module: str) -> str:
        """Return the same text for all spellings of one module. `path`: the importing file, relative to the root."""

    def origin(self, path: str, module: str, name: str) -> Origin:
        """Return the declaration of an imported object. Re-exports are followed."""


class FlatModules:
    def __init__(self, project: Project) -> None:
        pass

    def identify(self, _path: str, module: str) -> str:
        return module

    def origin(self, _path: str, module: str, name: str) -> Origin:
        return module, name


def keep_shared_names(imports: Sequence[Import]) -> list[Import]:
    """Return the imports, with `removable` set to False for those whose name another import binds as well."""
    names = Counter(item.name for item in imports)
    return [item._replace(removable=item.removable and names[item.name] == 1) for item in imports]


class ImportSyntax(msgspec.Struct, frozen=True, kw_only=True):
    read: Callable[[str], list[Import]]
    """A function: text → its imports; empty if the text cannot be parsed."""
    joins: bool = False
    """True if two parts of a text, cut between lines, together have its imports, provided that both have some: `read`
    finds none in a part that cannot be parsed alone."""
    modules: Callable[[Project], Modules]
    errors: Callable[[str, str], int] | None = None
    """A function: text, grammar → the size of syntax errors. If None, the size is the number of unparsable bytes."""
