"""Checks whether the crates that a Rust file uses exist. It reads the nearest Cargo.toml and does not run Cargo."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from ci_eval.core.base.files import is_own
from ci_eval.core.base.workspaces import find_content, table
from ci_eval.core.import_syntax import Imports

MANIFEST = "Cargo.toml"
_USE = re.compile(
    r"^[ \t]*(?:pub(?:\([^)\n]*\))?[ \t]+)?(?:use|extern[ \t]+crate)[ \t]+(?:::)?(?:r#)?(\w+)", re.MULTILINE
)
_TABLES = ("dependencies", "dev-dependencies", "build-dependencies")


def imports(root: Path, _environment: Path | None) -> Imports:
    """Return a function that checks the imports of a file. A crate is missing only if it is a dependency outside of the
    project: engines get no crates from a registry. Other names are the file's own or the standard library's."""

    @cache
    def of_folder(folder: Path) -> dict[str, bool]:
        """Return the crates that code in a folder can use, each with whether it is in the project."""
        above = (place for place in (folder, *folder.parents) if place.is_relative_to(root))
        nearest = next((place for place in above if is_own(place / MANIFEST, root)), None)
        return dict(_read_crates(root, nearest)) if nearest else {}

    def there(path: str, text: str) -> Iterator[tuple[str, bool]]:
        crates = of_folder((root / path).parent)
        for name in _USE.findall(text):
            yield name, crates.get(name, True)

    return there


def _read_crates(root: Path, folder: Path) -> Iterator[tuple[str, bool]]:
    manifest = find_content(root, folder / MANIFEST)
    places = (place for place in (folder, *folder.parents) if place.is_relative_to(root))
    workspaces = ((place, find_content(root, place / MANIFEST)) for place in places)
    home, whole = next(((place, content) for place, content in workspaces if "workspace" in content), (folder, {}))
    shared = table(whole, "workspace", "dependencies")
    patches = [table(patch) for patch in table(whole or manifest, "patch").values()]
    for section in (manifest, *table(manifest, "target").values()):
        for name, given in (pair for key in _TABLES for pair in table(section, key).items()):
            needed, place = table(given), folder
            if needed.get("workspace") is True:
                needed, place = table(shared.get(name)), home
            if patched := next((patch[name] for patch in patches if name in patch), None):
                needed, place = table(patched), home
            path = Path(os.path.normpath(place / needed["path"])) if isinstance(needed.get("path"), str) else None
            is_known = path is not None and path.is_relative_to(root) and is_own(path / MANIFEST, root)
            library = table(find_content(root, path / MANIFEST), "lib").get("name") if path and is_known else None
            # A renamed dependency is used under its new name.
            used = library if isinstance(library, str) and "package" not in needed else name
            yield used.replace("-", "_"), is_known
