"""The contract of a generation of the plugin's workspaces: how its files are found, read and written."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from ci_eval.core.base import stored
from ci_eval.core.base.errors import WorkspaceError
from ci_eval.core.config import Config
from ci_eval.core.model import Action, Lookup, Properties, Session, Suggestion
from ci_eval.plugins.jetbrains.fields import Fields, plain


@dataclass(frozen=True, kw_only=True)
class Listed:
    path: str
    """Path below the project's root."""
    file: Path
    """File that its sessions are stored in."""


@dataclass(frozen=True, kw_only=True)
class StoredActions:
    """The actions of one source file, in ours, with the session of each call still open."""

    path: str
    checksum: str
    sessions: int
    actions: Sequence[Action]
    """Actions. `session` of a call is the plugin's id, or "" if the file does not have it."""


@dataclass(frozen=True, kw_only=True)
class Generation:
    name: str
    summary: str
    """Versions of the plugin that wrote it."""
    wrote: Callable[[Mapping[str, object]], bool]
    """The content of config.json → whether it is of this generation. Exactly one generation accepts it."""
    prefix: str
    """Name of the field with what was typed at a lookup."""
    properties: str
    """Name of the field with the properties of a session."""
    listed: Callable[[Path], Sequence[Listed]]
    """The folder `data` → the source files with sessions."""
    read_properties: Callable[[Fields], Properties]
    rank: Callable[[str, str, Sequence[Suggestion], Sequence[bool | None]], int | None]
    """Title of the language, expected text, suggestions, and for each what the plugin said of its relevance → rank."""
    read_actions: Callable[[Fields], StoredActions]
    config: Callable[[Config, str], dict[str, object]]
    """The configuration and the folder of the project → config.json."""
    write_properties: Callable[[Properties], dict[str, object]]
    """The properties of a session → their fields."""
    write_session: Callable[[Session], dict[str, object]]
    """A session → its fields beside offset, expected text, id, properties and lookups."""
    write_lookup: Callable[[Lookup, int], dict[str, object]]
    """A lookup, its number in the session → its fields beside prefix, suggestions and latency."""
    write_suggestion: Callable[[Suggestion, Lookup, int], dict[str, object]]
    """A suggestion, its lookup, its rank from 1 → its fields beside its texts."""
    write_actions: Callable[[Sequence[Action]], list[dict[str, object]]]
    first_errors: int | None
    """Number of the first of the errors with the same file name. None if such a file has no number."""


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
