"""A reader of what a project needs from a registry. Requirements from elsewhere are refused by name, and never
fetched."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TypeVar

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
WHAT_NOW = (
    "Only packages of a registry are taken, since what comes from elsewhere would have to be built, which runs it: set "
    "project.dependencies to false, or evaluate a copy of the project (path:…) that does not ask for it."
)

Read = TypeVar("Read")


def read_python_requirements(root: Path) -> list[str]:
    """Return the requirements of a Python project, as pip takes them. They are read from the first of these that
    exists: a wheel's metadata, pyproject.toml, requirements.txt. Raises PreparationError if a requirement is an address
    or a path."""
    file, requirements = _find_python_requirements(root)
    return [_check_plain(text, file) for text in requirements]


def is_pinned(root: Path) -> bool:
    """Return whether a Python project pins the version of each of its requirements. Without requirements it is False.
    Raises PreparationError if the file cannot be read."""
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
    raise foreign(requirement, file)


def foreign(requirement: str, file: str) -> PreparationError:
    """Return the error about a requirement that no registry can meet."""
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
    lines = [line for line in lines if line and not ITSELF.fullmatch(line)]
    return [line for line in lines if not line.startswith("-") or line.startswith(("-e", "--editable"))]


def read_json(path: Path, kind: type[Read]) -> Read:
    """Return the value of type `kind` in a JSON file. Raises PreparationError."""
    try:
        return msgspec.json.decode(path.read_bytes(), type=kind)
    except (msgspec.MsgspecError, RecursionError) as error:
        raise PreparationError(f"Cannot read {path.name} of {path.parent.name}: {error}") from error
