"""The contract of a generation of the plugin's workspaces: how its files are read and written."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from ci_eval.core.config import Config
from ci_eval.core.model import Action, Lookup, Properties, Session, Suggestion
from ci_eval.plugins.jetbrains.fields import Fields


@dataclass(frozen=True, kw_only=True)
class Listed:
    """A source file that has sessions."""

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
    """A generation of the plugin's workspaces."""

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
