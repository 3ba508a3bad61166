"""What a generation of the plugin's workspaces must tell: how its files are read and written."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from ci_eval.config import Config
from ci_eval.exchange.fields import Fields
from ci_eval.model import Action, Lookup, Properties, Session, Suggestion


@dataclass(frozen=True, kw_only=True)
class Listed:
    """A source file that has sessions."""

    path: str
    """Below the project's root."""
    file: Path
    """Where its sessions are stored."""


@dataclass(frozen=True, kw_only=True)
class StoredActions:
    """The actions of one source file, in ours, with the session of each call still open."""

    path: str
    checksum: str
    sessions: int
    actions: Sequence[Action]
    """`session` of a call is the plugin's id, or "" where that is not told."""


@dataclass(frozen=True, kw_only=True)
class Generation:
    """One generation."""

    name: str
    summary: str
    """Which versions of the plugin wrote it."""
    wrote: Callable[[Mapping[str, object]], bool]
    """config.json → whether it is of this generation; exactly one says so."""
    prefix: str
    """Name of the field with what was typed at a lookup."""
    properties: str
    """Name of the field with the properties of a session."""
    listed: Callable[[Path], Sequence[Listed]]
    """The folder `data` → the source files with sessions."""
    read_properties: Callable[[Fields], Properties]
    rank: Callable[[str, str, Sequence[Suggestion], Sequence[bool | None]], int | None]
    """Title of the language, expected text, suggestions, and of each what the plugin said of its relevance → rank."""
    read_actions: Callable[[Fields], StoredActions]
    config: Callable[[Config, str], dict[str, object]]
    """The configuration and the folder of the project → config.json."""
    write_properties: Callable[[Properties], dict[str, object]]
    """As they stand in a session."""
    write_session: Callable[[Session], dict[str, object]]
    """What a session has beside offset, expected text, id, properties and lookups."""
    write_lookup: Callable[[Lookup, int], dict[str, object]]
    """What a lookup has beside what was typed, suggestions and latency; and its number in the session."""
    write_suggestion: Callable[[Suggestion, Lookup, int], dict[str, object]]
    """What a suggestion has beside its texts; and its place, from 1."""
    write_actions: Callable[[Sequence[Action]], list[dict[str, object]]]
    first_errors: int | None
    """The number of the first of the errors with the same file name; None: such a file has no number."""
