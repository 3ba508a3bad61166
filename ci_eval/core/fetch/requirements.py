"""A reader of what a project needs from a registry. Requirements from elsewhere are refused by name, and never
fetched."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path, PurePosixPath
from typing import TypeVar
from urllib.parse import urlsplit

import msgspec

from ci_eval.core.base.errors import PreparationError
from ci_eval.core.base.files import is_own

# PEP 508 without `@ URL`; narrower if that does no harm. No two parts begin alike, so it takes linear time.
PLAIN = re.compile(
    r"[A-Za-z0-9][A-Za-z0-9._-]*[ \t]*"
    r"(?:\[[A-Za-z0-9._, \t-]*\][ \t]*)?"
    r"(?:[(<>=!~][A-Za-z0-9._*+!,<>=~() \t-]*)?"
    r"(?:;[^\x00-\x1f]*)?"
)
PINNED = re.compile(r"[A-Za-z0-9._-]+[ \t]*(?:\[[^\]]*\][ \t]*)?===?[ \t]*[^\s,*;]+[ \t]*(?:;.*)?")
ITSELF = re.compile(r"(?:(?:-e|--editable)[ =]*)?\.(?:\[[^\]]*\])?")
NPM_ALIAS = re.compile(r"npm:(?:@[\w.~-]+/)?[\w.~-]+(?:@|\Z)")
NPM_RANGE = re.compile(r"(?!\.)[\w.*+<>=~^| -]*(?<!\.tgz|\.tar)(?<!\.tar\.gz)")
LONGEST = 1000
"""The most characters of a version range in a package.json."""
WHAT_NOW = (
    "Only packages of a registry are taken, since what comes from elsewhere would have to be built, which runs it: set "
    "project.dependencies to false, or evaluate a copy of the project (path:…) that does not ask for it."
)

Read = TypeVar("Read")


def read_python_requirements(root: Path) -> list[str]:
    """Return the requirements of a Python project, as pip takes them. They are read from the first of these that
    exists: a wheel's metadata, pyproject.toml, requirements.txt.

    Raises PreparationError if a requirement is an address or a path.
    """
    file, requirements = _find_python_requirements(root)
    return [_check_plain(text, file) for text in requirements]


def is_pinned(root: Path) -> bool:
    """Return whether a Python project pins the version of each of its requirements. Without requirements it is False.

    Raises PreparationError if the file cannot be read.
    """
    _, requirements = _find_python_requirements(root)
    return bool(requirements) and all(PINNED.fullmatch(requirement) for requirement in requirements)


def _find_python_requirements(root: Path) -> tuple[str, list[str]]:
    """Return the name of the file that lists the requirements, and its requirements."""
    for metadata in sorted(root.glob("*.dist-info/METADATA")):
        if is_own(metadata, root):
            return metadata.name, _read_metadata(metadata)
    for name, read in (("pyproject.toml", _read_pyproject), ("requirements.txt", _read_requirements_file)):
        if is_own(root / name, root):
            return name, read(root / name)
    return "", []


def _check_plain(requirement: str, file: str) -> str:
    if PLAIN.fullmatch(requirement.strip()):
        return requirement.strip()
    raise _foreign(requirement, file)


def _foreign(requirement: str, file: str) -> PreparationError:
    return PreparationError(f"{file} of the project wants {requirement[:200]!r}, which no registry has. {WHAT_NOW}")


def _read_metadata(path: Path) -> list[str]:
    head = path.read_text(errors="replace").partition("\n\n")[0]
    requirements = [line.partition(":")[2].strip() for line in head.splitlines() if line.startswith("Requires-Dist:")]
    # Requirements of extras are optional.
    return [requirement for requirement in requirements if "extra ==" not in requirement]


class _Project(msgspec.Struct, frozen=True):
    dependencies: list[str] = []


class _Pyproject(msgspec.Struct, frozen=True):
    project: _Project = _Project()


def _read_pyproject(path: Path) -> list[str]:
    try:
        return msgspec.toml.decode(path.read_bytes(), type=_Pyproject).project.dependencies
    except (msgspec.MsgspecError, ValueError, RecursionError) as error:
        raise PreparationError(f"Cannot read the dependencies in {path.name}: {error}") from error


def _read_requirements_file(path: Path) -> list[str]:
    """Return the requirements in the file, without options and without the project itself."""
    text = path.read_text(errors="replace").replace("\\\n", " ")
    # Options such as --hash may follow a requirement.
    lines = [re.sub(r"(^|\s)#.*", "", line).partition(" --")[0].strip() for line in text.splitlines()]
    return [line for line in lines if line and not ITSELF.fullmatch(line) and not _is_option(line)]


def _is_option(line: str) -> bool:
    return line.startswith("-") and not line.startswith(("-e", "--editable"))


# --------------------------------------------------------------------------------------------------------------- npm


class _Manifest(msgspec.Struct):
    dependencies: dict[str, str] = {}


class _Locked(msgspec.Struct):
    """An entry of `packages`, or of `dependencies` in older locks."""

    version: str = ""
    resolved: str | bool = ""
    link: bool = False
    dev: bool = False
    dependencies: dict[str, _Locked | str] = {}


class _Lock(msgspec.Struct):
    packages: dict[str, _Locked] = {}
    dependencies: dict[str, _Locked] = {}


def read_npm_ranges(manifest: Path) -> dict[str, str]:
    """Return the version ranges that a package.json asks for, by name, except for development. Raises
    PreparationError."""
    ranges = read_json(manifest, _Manifest).dependencies
    for name, versions in ranges.items():
        if len(versions) > LONGEST or not NPM_RANGE.fullmatch(NPM_ALIAS.sub("", versions, count=1)):
            raise _foreign(f"{name}@{versions}", manifest.name)
    return ranges


NPM_REGISTRY = "registry.npmjs.org"
"""The host that locks name; npm asks the registry that it is set up with in its place."""


def check_npm_lock(path: Path, hosts: Collection[str] = ()) -> None:
    """Check that a lock refers only to the project's folder and to registries. Raises PreparationError otherwise.

    `hosts` are the hosts of the registries that npm is set up with. A lock may name these and NPM_REGISTRY.
    """
    # npm would send requests to any address in a lock.
    lock = read_json(path, _Lock)
    for location, entry in lock.packages.items():
        source = entry.resolved if isinstance(entry.resolved, str) else ""
        if not _is_inside(location) or (entry.link and not _is_inside(source)):
            raise PreparationError(f"{path.name} of the project leads out of it, by {location[:200]!r}. {WHAT_NOW}")
        # Packages for development are not installed, so they may come from anywhere.
        if not entry.dev and source and not entry.link and not _is_registry_address(source, hosts):
            raise _foreign(f"{location} from {source}", path.name)
    for name, entry in _walk_dependencies(lock.dependencies):
        if not entry.dev and (":" in entry.version or "/" in entry.version) and not entry.version.startswith("npm:"):
            raise _foreign(f"{name} from {entry.version}", path.name)
        source = entry.resolved if isinstance(entry.resolved, str) else ""
        if not entry.dev and source and not _is_registry_address(source, hosts):
            raise _foreign(f"{name} from {source}", path.name)


def _is_registry_address(address: str, hosts: Collection[str]) -> bool:
    try:
        parts = urlsplit(address)
        return parts.scheme in {"http", "https"} and parts.hostname in {NPM_REGISTRY, *hosts}
    except ValueError:
        return False


def _is_inside(location: str) -> bool:
    path = PurePosixPath(location.replace("\\", "/"))
    return not path.is_absolute() and ".." not in path.parts and ":" not in location


def _walk_dependencies(entries: Mapping[str, _Locked | str]) -> Iterator[tuple[str, _Locked]]:
    for name, entry in entries.items():
        if isinstance(entry, _Locked):
            yield name, entry
            yield from _walk_dependencies(entry.dependencies)


def read_json(path: Path, kind: type[Read]) -> Read:
    """Return the value of type `kind` in a JSON file. Raises PreparationError."""
    try:
        return msgspec.json.decode(path.read_bytes(), type=kind)
    except (msgspec.MsgspecError, RecursionError) as error:
        raise PreparationError(f"Cannot read {path.name} of {path.parent.name}: {error}") from error
