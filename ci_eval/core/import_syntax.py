"""The contracts of a language's imports: a reader of imported packages, and the syntax of single imports."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import NamedTuple, Protocol

import msgspec

Imports = Callable[[str, str], Iterable[tuple[str, bool]]]
"""A reader of imports: a file's path below the project, its text → the package of each import; whether it is there."""


class Import(NamedTuple):
    name: str
    module: str
    original: str
    """The object's name in the module; "" = the module itself."""
    begin: int
    end: int
    """The offsets (code points) of the text that is removed with the import."""
    removable: bool
    """True if the import is at the top of the file, no other import brings its name, and the name is the original's."""
    runs: bool = True
    """False if only a type checker reads it, as below Python's `if TYPE_CHECKING:`."""


Origin = tuple[str, str]
"""The module that declares an object, and the object's name there."""


class Project(NamedTuple):
    root: Path
    environment: Path | None
    sources: tuple[Path, ...] | None = None
    """The folders in which its own packages are; None = those that its files name."""


class Modules(Protocol):
    def identify(self, path: str, module: str) -> str:
        """Return the same text for all names of one module. `path`: the importing file, below the root."""

    def origin(self, path: str, module: str, name: str) -> Origin:
        """Return the declaration that an import leads to, through any number of re-exports."""


class FlatModules:
    def __init__(self, project: Project) -> None:
        pass

    def identify(self, _path: str, module: str) -> str:
        return module

    def origin(self, _path: str, module: str, name: str) -> Origin:
        return module, name


def keep_shared_names(imports: Sequence[Import]) -> list[Import]:
    """Return the imports; an import is marked as not removable if another one brings the same name."""
    names = Counter(item.name for item in imports)
    return [item._replace(removable=item.removable and names[item.name] == 1) for item in imports]


class ImportSyntax(msgspec.Struct, frozen=True, kw_only=True):
    read: Callable[[str], list[Import]]
    """A function: text → its imports; none if it cannot be read."""
    modules: Callable[[Project], Modules]
    errors: Callable[[str, str], int] | None = None
    """A function: text, grammar → the size of its syntax errors. None: the bytes that the grammar cannot read."""
