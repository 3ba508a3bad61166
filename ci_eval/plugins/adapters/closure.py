"""A declaration of the files that an engine's answers depend on, and the folders in which packages begin."""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum
from pathlib import Path
from typing import Protocol, runtime_checkable

from ci_eval.core.base.files import is_own
from ci_eval.core.contracts import Engine


class Closure(Enum):
    """The files of the project that an answer depends on, beside engine, settings and dependencies."""

    FILE = "file"
    """The file in which the engine is asked, alone."""
    IMPORTS = "imports"
    """The file in which the engine is asked, the files that it imports, those that they import, and so on; the names of
    all other files; and the contents of those that are no source files, such as settings."""
    PROJECT = "project"
    """The contents of all files of the project."""


@runtime_checkable
class Declaring(Protocol):
    """An engine that declares which files its answers depend on."""

    @property
    def closure(self) -> Closure: ...


def find_closure(engine: Engine) -> Closure:
    """Return the closure that the engine declares, or PROJECT if it declares none."""
    # An engine that declares nothing may read any file, so no stored result outlives a change of the project.
    return engine.closure if isinstance(engine, Declaring) else Closure.PROJECT


def source_roots(root: Path, suffix: str, package_of: Callable[[str], str | None]) -> list[Path]:
    """Return the source roots of the project's files with that suffix, sorted. A file whose folder does not match its
    package has none.

    Example: `src/main/java/a/b/C.java` of package `a.b` has the root `src/main/java`. `package_of`: text of a file →
    full name of its package; "" is the package without a name, None leaves the file out.
    """
    roots = set()
    for path in (candidate for candidate in root.rglob(f"*{suffix}") if is_own(candidate, root)):
        package = package_of(path.read_text(errors="replace"))
        if package is not None and (top := _above(path.parent, package)):
            roots.add(top)
    # A package may have more parts than the folders below the root, and would then lead above the root.
    return sorted(folder for folder in roots if folder.is_relative_to(root))


def _above(folder: Path, package: str) -> Path | None:
    parts = tuple(package.split(".")) if package else ()
    if folder.parts[len(folder.parts) - len(parts) :] != parts:
        return None
    return Path(*folder.parts[: len(folder.parts) - len(parts)])
