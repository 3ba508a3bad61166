"""Where the sessions of a workspace stand: `data/files.json`, or one such file for each project."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from ci_eval import stored
from ci_eval.errors import WorkspaceError
from ci_eval.exchange.contract import Listed
from ci_eval.exchange.fields import plain

LIST = "files.json"


def of_files(data: Path) -> list[Listed]:
    """`files.json`: path of the source file → path of the sessions, below `data` (2019) or below `data/files`."""
    return list(_listed(data, plain(data / LIST))) if (data / LIST).is_file() else []


def of_projects(data: Path) -> list[Listed]:
    """The same, or a list of the projects in `files.json` (2024), with a folder for each."""
    found = plain(data / LIST) if (data / LIST).is_file() else {}
    if not isinstance(found, list):
        return list(_listed(data, found))
    return [each for name in found for each in of_files(_inside(data, name))]


def _listed(data: Path, found: object) -> Iterator[Listed]:
    if not isinstance(found, Mapping):
        raise WorkspaceError(f"{data / LIST} is neither an object nor a list; fetch the workspace again")
    for path, name in found.items():
        places = [_inside(data, name), _inside(data / "files", name)]
        file = next((place for place in places if place.is_file()), places[0])
        yield Listed(path=path, file=file)


def _inside(folder: Path, name: object) -> Path:
    try:
        return folder / stored.inside(str(name).replace("\\", "/"))
    except ValueError as error:
        raise WorkspaceError(f"{folder}: {error}; fetch the workspace again") from error
