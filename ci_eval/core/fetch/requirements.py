"""A reader of what a project needs from a registry. Requirements from elsewhere are refused by name, and never
fetched."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Literal, TypeVar

import msgspec

from ci_eval.core.base.errors import PreparationError
from ci_eval.core.base.files import is_own
from ci_eval.core.base.python_layout import PYPROJECT, normalize, read_layout, read_pyproject, table

# PEP 508 without `@ URL`; narrower if that does no harm. No two parts begin alike, so it takes linear time.
PLAIN = re.compile(
    r"[A-Za-z0-9][A-Za-z0-9._-]*[ \t]*"
    r"(?:\[[A-Za-z0-9._, \t-]*\][ \t]*)?"
    r"(?:[(<>=!~][A-Za-z0-9._*+!,<>=~() \t-]*)?"
    r"(?:;[^\x00-\x1f]*)?"
)
PINNED = re.compile(r"[A-Za-z0-9._-]+[ \t]*(?:\[[^\]]*\][ \t]*)?===?[ \t]*[^\s,*;]+[ \t]*(?:;.*)?")
EXTRA = re.compile(r"""extra\s*==\s*["']([\w.-]+)["']""")
ITSELF = re.compile(r"(?:(?:-e|--editable)[ =]*)?\.(?:\[[^\]]*\])?")
WHAT_NOW = (
    "Only packages of a registry are taken, since what comes from elsewhere would have to be built, which runs it: set "
    "project.dependencies to false, or evaluate a copy of the project (path:…) that does not ask for it."
)

Read = TypeVar("Read")


Groups = Literal["all"] | tuple[str, ...]
"""The groups and extras whose requirements are wanted as well."""


def read_python_requirements(root: Path, groups: Groups = ()) -> list[str]:
    """Return the requirements of a Python project, as pip takes them. They are read from the first of these that
    exists: a wheel's metadata, pyproject.toml (with those of the packages that the project has itself, which are left
    out), requirements.txt.

    Raises PreparationError if a requirement is an address or a path, or if there is no such group.
    """
    file, requirements, known = _find_python_requirements(root, groups)
    if groups != "all" and (unknown := {*map(normalize, groups)} - known):
        has = f"has {', '.join(sorted(known))}" if known else "has none"
        raise PreparationError(f"project.dependencyGroups names {min(unknown)!r}, and the project {has}")
    plain = [_check_plain(text, file) for text in requirements]
    layout = read_layout(root)
    names = [normalize(name_of(text)) for text in plain]
    for name, text in zip(names, plain, strict=True):
        # A registry may have another package of that name, put there by anybody.
        if name in layout.elsewhere:
            raise foreign(f"{text} from {layout.elsewhere[name]}", file)
    return list(dict.fromkeys(text for name, text in zip(names, plain, strict=True) if name not in layout.members))


def name_of(requirement: str) -> str:
    """Return the name of the package that a plain requirement asks for."""
    return re.split(r"[^A-Za-z0-9._-]", requirement, maxsplit=1)[0]


def is_pinned(root: Path) -> bool:
    """Return whether a Python project pins the version of each of its requirements. Without requirements it is False.
    Raises PreparationError if the file cannot be read."""
    _, requirements, _ = _find_python_requirements(root, ())
    return bool(requirements) and all(PINNED.fullmatch(requirement) for requirement in requirements)


def find_python_groups(root: Path) -> set[str]:
    """Return the names of the groups and extras of a Python project. Raises PreparationError."""
    return _find_python_requirements(root, ())[2]


def _find_python_requirements(root: Path, groups: Groups) -> tuple[str, list[str], set[str]]:
    """Return the name of the file that lists the requirements, its requirements, and the names of all its groups."""
    for metadata in sorted(root.glob("*.dist-info/METADATA")):
        if is_own(metadata, root):
            return metadata.name, *_read_metadata(metadata, groups)
    if is_own(root / PYPROJECT, root):
        manifests = dict.fromkeys((root, *read_layout(root).members.values()))
        read = [_read_pyproject(folder / PYPROJECT, root, groups) for folder in manifests]
        return PYPROJECT, [text for texts, _ in read for text in texts], {name for _, names in read for name in names}
    if is_own(root / "requirements.txt", root):
        return "requirements.txt", _read_requirements_file(root / "requirements.txt"), set()
    return "", [], set()


def _check_plain(requirement: str, file: str) -> str:
    if PLAIN.fullmatch(requirement.strip()):
        return requirement.strip()
    raise foreign(requirement, file)


def foreign(requirement: str, file: str) -> PreparationError:
    """Return the error about a requirement that no registry can meet."""
    return PreparationError(f"{file} of the project wants {requirement[:200]!r}, which no registry has. {WHAT_NOW}")


def _read_metadata(path: Path, groups: Groups) -> tuple[list[str], set[str]]:
    head = path.read_text(errors="replace").partition("\n\n")[0]
    requirements = [line.partition(":")[2].strip() for line in head.splitlines() if line.startswith("Requires-Dist:")]
    known = {normalize(name) for requirement in requirements for name in EXTRA.findall(requirement)}
    chosen = known if groups == "all" else {*map(normalize, groups)}
    # pip would ask for none of them; what stands in place of the extra is always true.
    met = [
        EXTRA.sub(lambda part: 'python_version >= "3"' if normalize(part[1]) in chosen else part[0], requirement)
        for requirement in requirements
    ]
    return [requirement for requirement in met if not EXTRA.search(requirement)], known


def _read_pyproject(path: Path, root: Path, groups: Groups) -> tuple[list[str], set[str]]:
    manifest = read_pyproject(path, root)
    project = table(manifest, "project")
    named = {**table(project, "optional-dependencies"), **table(manifest, "dependency-groups")}
    known = {normalize(name): requirements for name, requirements in named.items()}
    waiting = ["", *(known if groups == "all" else map(normalize, groups))]
    texts: list[str] = []
    try:
        for name in waiting:
            requirements = known.get(name, []) if name else project.get("dependencies", [])
            for text in msgspec.convert(requirements, list[str | dict[str, str]]):
                if isinstance(text, str):
                    texts.append(text)
                elif (included := normalize(text.get("include-group", ""))) not in waiting:
                    waiting.append(included)
    except msgspec.MsgspecError as error:
        raise PreparationError(f"Cannot read the dependencies in {path.relative_to(root)}: {error}") from error
    return texts, set(known)


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
