"""A search for the folders of a project in which its packages begin."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from ci_eval.core.base.files import is_own


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
