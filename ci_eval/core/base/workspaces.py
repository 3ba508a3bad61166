"""The packages of npm, pnpm and yarn that a project has itself: no registry is asked for their names, and engines see
their source.

They are read where these clients read them: `workspaces` of package.json, pnpm-workspace.yaml, and paths among the
dependencies.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import msgspec
import yaml

from ci_eval.core.base.errors import PreparationError
from ci_eval.core.base.files import is_own, read_own

MAX_MEMBERS = 1_000
MANIFEST = "package.json"
PNPM = "pnpm-workspace.yaml"
NAME = re.compile(r"(?:@[A-Za-z0-9][A-Za-z0-9._-]*/)?[A-Za-z0-9][A-Za-z0-9._-]*")
PATH = re.compile(r"(?:file|link|portal):(?P<path>[^\x00]*)")
"""The versions that name a folder in place of a version."""


def expand(root: Path, patterns: Iterable[str], manifest: str) -> list[Path]:
    """Return the folders of the project that the patterns name and that have a manifest, at most MAX_MEMBERS, sorted.
    Patterns that begin with `!` exclude folders."""
    named: list[set[Path]] = [set(), set()]
    for pattern in patterns:
        plain = pattern.removeprefix("!")
        # An absolute pattern would leave the project, and so would a `..`.
        if not plain.startswith("/") and ".." not in Path(plain).parts and plain.strip("./"):
            folders = (folder for folder in root.glob(plain) if "node_modules" not in folder.parts)
            members = (folder for folder in folders if is_own(folder / manifest, root))
            named[pattern.startswith("!")].update(islice(members, MAX_MEMBERS))
    return sorted(named[0] - named[1])[:MAX_MEMBERS]


def read_members(root: Path, sources: Iterable[Path] = ()) -> dict[str, Path]:
    """Return the folders of the project's own packages, by name. `sources`: further folders of such packages. Raises
    PreparationError if a manifest cannot be read."""
    whole = _read(root, root / MANIFEST)
    spaces = whole.get("workspaces")
    patterns = spaces.get("packages") if isinstance(spaces, dict) else spaces
    patterns = [*texts(patterns), *texts(_read(root, root / PNPM).get("packages"))]
    # A member may name further folders, so the list grows while it is read.
    manifests = list(dict.fromkeys([root, *expand(root, patterns, MANIFEST), *sources]))
    members: dict[str, Path] = {}
    for folder in manifests:
        manifest = _read(root, folder / MANIFEST)
        name = read_name(root, folder)
        if name and (folder != root or patterns):
            members.setdefault(name, folder)
        for name, path in _paths(manifest):
            place = (folder / path).resolve()
            if is_own(place / MANIFEST, root) and "node_modules" not in place.parts:
                other = members.setdefault(name, root / place.relative_to(root.resolve()))
                if other not in manifests and len(manifests) < MAX_MEMBERS:
                    manifests.append(other)
    for name in members:
        # Links are named by it, so it may not lead out of their folder.
        if not NAME.fullmatch(name):
            raise PreparationError(f"{name[:200]!r} in {MANIFEST} of the project is no name of a package")
    return members


def find_members(root: Path, sources: Iterable[Path] = ()) -> dict[str, Path]:
    """Return `read_members`, or nothing if a manifest cannot be read."""
    try:
        return read_members(root, sources)
    except PreparationError:
        return {}


def read_name(root: Path, folder: Path) -> str:
    """Return the name of the package in a folder of the project, or "". Raises PreparationError."""
    name = _read(root, folder / MANIFEST).get("name")
    return name if isinstance(name, str) else ""


def read_catalogs(root: Path) -> dict[str, dict[str, str]]:
    """Return the versions that pnpm's `catalog:NAME` names, by name of the catalog. Raises PreparationError."""
    content = _read(root, root / PNPM)
    try:
        catalogs = {"": content.get("catalog", {}), **content.get("catalogs", {})}
        return msgspec.convert(catalogs, dict[str, dict[str, str]], strict=False)
    except (msgspec.MsgspecError, TypeError) as error:
        raise PreparationError(f"Cannot read the catalogs in {PNPM}: {error}") from error


def texts(value: Any) -> list[str]:
    """Return the texts among the items of a list; [] of anything else."""
    return [text for text in value if isinstance(text, str)] if isinstance(value, list) else []


def _paths(manifest: dict[str, Any]) -> Iterator[tuple[str, str]]:
    needs = manifest.get("dependencies")
    for name, version in needs.items() if isinstance(needs, dict) else ():
        if isinstance(version, str) and (match := PATH.fullmatch(version)):
            yield name, match["path"]


def _read(root: Path, path: Path) -> dict[str, Any]:
    if not is_own(path, root):
        return {}
    try:
        data = read_own(root, str(path.relative_to(root)))
        content = yaml.safe_load(data) if path.suffix == ".yaml" else msgspec.json.decode(data)
    except (msgspec.MsgspecError, yaml.YAMLError, OSError, ValueError, RecursionError) as error:
        raise PreparationError(f"Cannot read {path.relative_to(root)}: {error}") from error
    return content if isinstance(content, dict) else {}
