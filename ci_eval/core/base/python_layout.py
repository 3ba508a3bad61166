"""The packages of Python that a project has itself: no registry is asked for their names, and engines see their source.

They are read where the project's own tools read them: `[tool.uv.workspace]`, paths in `[tool.uv.sources]`, and paths in
Poetry's dependencies. A package that nothing names, such as one among the files of a test, is none.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from ci_eval.core.base.errors import PreparationError
from ci_eval.core.base.files import is_own
from ci_eval.core.base.workspaces import MAX_MEMBERS, expand, texts

PYPROJECT = "pyproject.toml"
OF_THE_REGISTRY = frozenset({"version", "extras", "optional", "markers", "python", "allow-prereleases"})
"""The fields of a source that leave the package to the usual registry. With any other it comes from elsewhere, such as
from git or from another index."""


class Layout(NamedTuple):
    """The packages that a project has itself."""

    members: dict[str, Path]
    """Their folders, by normalized name."""
    elsewhere: dict[str, str]
    """The packages from neither a folder of the project nor the usual registry: normalized name → their source."""
    roots: tuple[Path, ...]
    """The folders that an editable install of all would put on Python's path, without the project's root."""


def read_layout(root: Path) -> Layout:
    """Read the layout of a project. Raises PreparationError if a pyproject.toml of it cannot be read."""
    whole = read_pyproject(root / PYPROJECT, root)
    members: dict[str, Path] = {}
    elsewhere: dict[str, str] = {}
    if name := table(whole, "project").get("name"):
        members[normalize(str(name))] = root
    # A member may name further folders, so the list grows while it is read.
    workspace = table(whole, "tool", "uv", "workspace")
    patterns = [*texts(workspace.get("members")), *(f"!{folder}" for folder in texts(workspace.get("exclude")))]
    manifests = [root, *expand(root, patterns, PYPROJECT)]
    for folder in manifests:
        manifest = whole if folder == root else read_pyproject(folder / PYPROJECT, root)
        if name := table(manifest, "project").get("name") or table(manifest, "tool", "poetry").get("name"):
            members.setdefault(normalize(str(name)), folder)
        for name, source in _sources(manifest):
            place = (folder / str(source.get("path"))).resolve()
            if "path" in source and place.is_relative_to(root.resolve()) and place.is_dir():
                members.setdefault(normalize(name), root / place.relative_to(root.resolve()))
                if members[normalize(name)] not in manifests and len(manifests) < MAX_MEMBERS:
                    manifests.append(members[normalize(name)])
            elif not OF_THE_REGISTRY.issuperset(source):
                elsewhere[normalize(name)] = ", ".join(f"{field} {value}" for field, value in source.items())
    roots = [folder / "src" if (folder / "src").is_dir() else folder for folder in (root, *members.values())]
    elsewhere = {name: source for name, source in elsewhere.items() if name not in members}
    return Layout(members, elsewhere, tuple(dict.fromkeys(place for place in roots if place != root)))


def source_roots(root: Path) -> tuple[Path, ...]:
    """Return the layout's `roots`; of a project whose files cannot be read, `src` alone."""
    try:
        return read_layout(root).roots
    except PreparationError:
        return (root / "src",) if (root / "src").is_dir() else ()


def read_pyproject(path: Path, root: Path) -> Any:
    """Return the content of a pyproject.toml; {} if the project has none there. Raises PreparationError if it cannot be
    read."""
    if not is_own(path, root):
        return {}
    try:
        return msgspec.toml.decode(path.read_bytes())
    except (msgspec.MsgspecError, OSError, ValueError, RecursionError) as error:
        raise PreparationError(f"Cannot read the dependencies in {path.relative_to(root)}: {error}") from error


def table(value: Any, *names: str) -> dict[str, Any]:
    """Return the table at these names; {} if there is none."""
    for name in names:
        value = value.get(name) if isinstance(value, dict) else None
    return value if isinstance(value, dict) else {}


def normalize(name: str) -> str:
    """Return a package's name as registries compare it (PEP 503)."""
    return re.sub(r"[-_.]+", "-", name).lower()


def _sources(manifest: Any) -> Iterator[tuple[str, dict[str, Any]]]:
    poetry = table(manifest, "tool", "poetry")
    groups = [table(group, "dependencies") for group in table(poetry, "group").values()]
    for sources in (table(manifest, "tool", "uv", "sources"), table(poetry, "dependencies"), *groups):
        for name, source in sources.items():
            # uv takes a list of sources, each for another platform.
            for one in source if isinstance(source, list) else [source]:
                if isinstance(one, dict):
                    yield name, one
