"""The location of a workspace's sessions: `data/files.json`, or one such file for each project."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from ci_eval.core.base import stored
from ci_eval.core.base.errors import WorkspaceError
from ci_eval.plugins.jetbrains.contract import Listed
from ci_eval.plugins.jetbrains.fields import plain

LIST = "files.json"


def list_source_files(data: Path) -> list[Listed]:
    """Return the source files in `files.json`, which maps each path to that of its sessions, below `data` (2019) or
    below `data/files`."""
    return list(_list_files(data, plain(data / LIST))) if (data / LIST).is_file() else []


def list_project_files(data: Path) -> list[Listed]:
    """Return the source files in `files.json`, or in those of its projects if it lists projects (2024)."""
    content = plain(data / LIST) if (data / LIST).is_file() else {}
    if not isinstance(content, list):
        return list(_list_files(data, content))
    return [listed for name in content for listed in list_source_files(_inside(data, name))]


def _list_files(data: Path, content: object) -> Iterator[Listed]:
    if not isinstance(content, Mapping):
        raise WorkspaceError(f"{data / LIST} is neither an object nor a list; fetch the workspace again")
    for path, name in content.items():
        places = [_inside(data, name), _inside(data / "files", name)]
        file = next((place for place in places if place.is_file()), places[0])
        yield Listed(path=path, file=file)


def _inside(folder: Path, name: object) -> Path:
    try:
        # Windows separates folders by backslashes.
        return folder / stored.inside(str(name).replace("\\", "/"))
    except ValueError as error:
        raise WorkspaceError(f"{folder}: {error}; fetch the workspace again") from error
