"""What a project needs from a registry. Requirements from elsewhere are refused, with their names, and never
fetched."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path, PurePosixPath
from typing import TypeVar
from urllib.parse import urlsplit

import msgspec

from ci_eval.errors import PreparationError
from ci_eval.files import is_own

# PEP 508 without `@ URL`; narrower where that does no harm. No two parts begin alike, so it takes linear time.
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
"""Characters of the longest range of versions in a package.json."""
WHAT_NOW = (
    "Only packages of a registry are taken, since what comes from elsewhere would have to be built, which runs it: set "
    "project.dependencies to false, or evaluate a copy of the project (path:…) that does not ask for it."
)

Read = TypeVar("Read")


def of_python(root: Path) -> list[str]:
    """The requirements of a Python project, as pip takes them: from a wheel's metadata, pyproject.toml or
    requirements.txt, whichever is there first.

    Raises PreparationError where one of them is an address or a path.
    """
    place, wanted = _of_python(root)
    return [_plain(text, place) for text in wanted]


def is_pinned(root: Path) -> bool:
    """Whether a Python project says of each requirement which version it is to be. Raises PreparationError where the
    file cannot be read."""
    _, wanted = _of_python(root)
    return bool(wanted) and all(PINNED.fullmatch(each) for each in wanted)


def _of_python(root: Path) -> tuple[str, list[str]]:
    """The name of the file that says what is required, and what it says."""
    for metadata in sorted(root.glob("*.dist-info/METADATA")):
        if is_own(metadata, root):
            return metadata.name, _of_metadata(metadata)
    for name, read in (("pyproject.toml", _of_pyproject), ("requirements.txt", _of_requirements)):
        if is_own(root / name, root):
            return name, read(root / name)
    return "", []


def _plain(requirement: str, place: str) -> str:
    if PLAIN.fullmatch(requirement.strip()):
        return requirement.strip()
    raise _elsewhere(requirement, place)


def _elsewhere(wanted: str, place: str) -> PreparationError:
    return PreparationError(f"{place} of the project wants {wanted[:200]!r}, which no registry has. {WHAT_NOW}")


def _of_metadata(path: Path) -> list[str]:
    head = path.read_text(errors="replace").partition("\n\n")[0]
    found = [line.partition(":")[2].strip() for line in head.splitlines() if line.startswith("Requires-Dist:")]
    return [requirement for requirement in found if "extra ==" not in requirement]


class _Project(msgspec.Struct, frozen=True):
    dependencies: list[str] = []


class _Pyproject(msgspec.Struct, frozen=True):
    project: _Project = _Project()


def _of_pyproject(path: Path) -> list[str]:
    try:
        return msgspec.toml.decode(path.read_bytes(), type=_Pyproject).project.dependencies
    except (msgspec.MsgspecError, ValueError, RecursionError) as error:
        raise PreparationError(f"Cannot read the dependencies in {path.name}: {error}") from error


def _of_requirements(path: Path) -> list[str]:
    """The requirements in the file, without options and without the project itself, which is there anyway."""
    text = path.read_text(errors="replace").replace("\\\n", " ")
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


def of_npm(manifest: Path) -> dict[str, str]:
    """Name → range of versions that a package.json asks for, except for development. Raises PreparationError."""
    found = read_json(manifest, _Manifest).dependencies
    for name, wanted in found.items():
        if len(wanted) > LONGEST or not NPM_RANGE.fullmatch(NPM_ALIAS.sub("", wanted, count=1)):
            raise _elsewhere(f"{name}@{wanted}", manifest.name)
    return found


NPM_REGISTRY = "registry.npmjs.org"
"""The host that locks name; npm asks the registry that it is set up with in its place."""


def check_npm_lock(path: Path, hosts: Collection[str] = ()) -> None:
    """Raises PreparationError where a lock refers to anything outside the project's folder that is not in a
    registry.

    `hosts`: the hosts of the registries that npm is set up with; a lock may name these and NPM_REGISTRY, since npm
    would send requests to any address.
    """
    lock = read_json(path, _Lock)
    for place, entry in lock.packages.items():
        source = entry.resolved if isinstance(entry.resolved, str) else ""
        if not _stays(place) or (entry.link and not _stays(source)):
            raise PreparationError(f"{path.name} of the project leads out of it, by {place[:200]!r}. {WHAT_NOW}")
        if not entry.dev and source and not entry.link and not _of_registry(source, hosts):
            raise _elsewhere(f"{place} from {source}", path.name)
    for name, entry in _nested(lock.dependencies):
        if not entry.dev and (":" in entry.version or "/" in entry.version) and not entry.version.startswith("npm:"):
            raise _elsewhere(f"{name} from {entry.version}", path.name)
        source = entry.resolved if isinstance(entry.resolved, str) else ""
        if not entry.dev and source and not _of_registry(source, hosts):
            raise _elsewhere(f"{name} from {source}", path.name)


def _of_registry(address: str, hosts: Collection[str]) -> bool:
    try:
        parts = urlsplit(address)
        return parts.scheme in {"http", "https"} and parts.hostname in {NPM_REGISTRY, *hosts}
    except ValueError:
        return False


def _stays(place: str) -> bool:
    path = PurePosixPath(place.replace("\\", "/"))
    return not path.is_absolute() and ".." not in path.parts and ":" not in place


def _nested(entries: Mapping[str, _Locked | str]) -> Iterator[tuple[str, _Locked]]:
    for name, entry in entries.items():
        if isinstance(entry, _Locked):
            yield name, entry
            yield from _nested(entry.dependencies)


def read_json(path: Path, kind: type[Read]) -> Read:
    """The value of type `kind` in a JSON file. Raises PreparationError."""
    try:
        return msgspec.json.decode(path.read_bytes(), type=kind)
    except (msgspec.MsgspecError, RecursionError) as error:
        raise PreparationError(f"Cannot read {path.name} of {path.parent.name}: {error}") from error
