"""The reader of event logs, which the JetBrains plugin and IDEs write: what was displayed, and what the user did.

A line has eight columns, separated by tabs: timestamp, recorder, its version, user, session, bucket, action, and the
event as JSON. An item is described when it is first displayed. Later events have its number, and what changed of it
(`itemsDiff`).
"""

from __future__ import annotations

import gzip
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec

from ci_eval.core.base import stored
from ci_eval.core.base.errors import WorkspaceError
from ci_eval.core.logs.features import NAMES
from ci_eval.core.logs.gather import tables

Feature = float | str | None
STARTED, CANCELLED = "COMPLETION_STARTED", "COMPLETION_CANCELED"
TAKEN, TYPED = "EXPLICIT_SELECT", "TYPED_SELECT"
STEPS = {"TYPE": 1, "BACKSPACE": -1}
"""Events that change what is typed, and the list: action → by how many characters."""
MOVES = {"UP", "DOWN"}
ENDS = {TAKEN: "selected", TYPED: "typed", CANCELLED: "cancelled"}
COLUMNS = 8
MOST = 4_000_000_000
"""Bytes of one file, unpacked."""


@dataclass(frozen=True, kw_only=True)
class Shown:
    typed: int
    """Characters of the prefix."""
    ids: Sequence[int]
    """Numbers of the items, in displayed order."""
    features: Sequence[Mapping[str, Feature]]
    """Features of each item."""
    common: Mapping[str, Feature] = field(default_factory=dict)
    """Features that all items share: of the user and the location."""


@dataclass(frozen=True, kw_only=True)
class ShownSession:
    user: str
    session: str
    lookups: Sequence[Shown]
    outcome: str
    """Outcome: `selected`, `typed` (an item was typed to its end) or `cancelled`."""
    wanted: int | None
    """Number of the item that was taken or typed. None if the log does not have it, as for all cancelled sessions."""

    def rank(self, lookup: Shown) -> int | None:
        """Return the rank of the wanted item in a list, None if it is absent or not known."""
        return lookup.ids.index(self.wanted) + 1 if self.wanted in lookup.ids else None


class Item(msgspec.Struct, frozen=True):
    """An item that is shown for the first time."""

    id: int
    length: int = 0
    relevance: dict[str, Feature | bool] | None = None


class Difference(msgspec.Struct, frozen=True):
    """The changes of an item since the last event."""

    id: int
    added: dict[str, Feature | bool] | None = None
    changed: dict[str, Feature | bool] | None = None
    removed: tuple[str, ...] | None = None


class Event(msgspec.Struct, frozen=True, rename="camel"):
    """The part of an event that is read."""

    completion_list_ids: tuple[int, ...] | None = None
    new_completion_list_items: tuple[Item, ...] | None = None
    items_diff: tuple[Difference, ...] | None = None
    query_length: int | None = None
    selected_id: int | None = None
    user_factors: dict[str, Feature | bool] | None = None
    context_factors: dict[str, Feature | bool] | None = None
    validation_status: str = "UNKNOWN"


@dataclass
class _Open:
    user: str
    session: str
    typed: int
    common: dict[str, Feature]
    items: dict[int, dict[str, Feature]] = field(default_factory=dict)
    ids: Sequence[int] = ()
    lookups: list[Shown] = field(default_factory=list)

    def update(self, event: Event) -> None:
        """Apply an event to the items and the list. Raises KeyError if it shows or changes an item that was never
        described."""
        for item in event.new_completion_list_items or ():
            self.items[item.id] = _plain(item.relevance)
        for difference in event.items_diff or ():
            now = {**self.items[difference.id], **_plain(difference.added), **_plain(difference.changed)}
            self.items[difference.id] = {
                name: value for name, value in now.items() if name not in (difference.removed or ())
            }
        if event.completion_list_ids is not None:
            self.ids = event.completion_list_ids

    def look(self) -> None:
        if self.ids:
            shown = [self.items[item_id] for item_id in self.ids]
            self.lookups.append(Shown(typed=self.typed, ids=tuple(self.ids), features=shown, common=self.common))


class EventLog:
    """A reader of files of events, which counts what it cannot use."""

    def __init__(self) -> None:
        self.left_out: Counter[str] = Counter()
        """Why → how often: lines, or sessions."""

    def sessions(self, files: Iterable[Path]) -> Iterator[ShownSession]:
        """Yield the sessions that ended, in the order of their ends. Raises WorkspaceError if a file cannot be read."""
        waiting: dict[tuple[str, str], _Open | None] = {}
        for path in files:
            for line in _lines(path):
                ended = self._line(line, waiting)
                if ended and ended.lookups:
                    yield ended
                elif ended:
                    self.left_out["sessions in which no list was shown"] += 1
        if unfinished := sum(open_session is not None for open_session in waiting.values()):
            self.left_out["sessions that do not end"] += unfinished

    def _line(self, line: bytes, waiting: dict[tuple[str, str], _Open | None]) -> ShownSession | None:
        if not line.strip():
            return None
        try:
            columns = line.decode().rstrip("\r\n").split("\t", COLUMNS - 1)
            _, _, _, user, session, _, action, text = columns
            event = msgspec.json.decode(text, type=Event)
        except (ValueError, RecursionError):
            self.left_out["lines that are no event"] += 1
            return None
        if event.validation_status == "INVALID":
            self.left_out["events that their recorder called invalid"] += 1
            return None
        try:
            return self._event(action, event, (user, session), waiting)
        except KeyError:
            # Further events of that session are passed over, and not counted again.
            waiting[user, session] = None
            self.left_out["sessions with an item that is never told"] += 1
            return None

    def _event(
        self, action: str, event: Event, key: tuple[str, str], waiting: dict[tuple[str, str], _Open | None]
    ) -> ShownSession | None:
        if action == STARTED:
            common = {f"user_{name}": value for name, value in _plain(event.user_factors).items()}
            common |= _plain(event.context_factors)
            waiting[key] = _Open(*key, typed=event.query_length or 0, common=common)
        elif key not in waiting and (action in STEPS or action in MOVES or action in ENDS):
            self.left_out["events of sessions that do not begin"] += 1
        now = waiting.get(key)
        if now is None:
            return None
        if action == STARTED or action in STEPS or action in MOVES:
            now.update(event)
        if action in STEPS:
            changed = now.typed + STEPS[action]
            now.typed = max(changed, 0) if event.query_length is None else event.query_length
        if action == STARTED or action in STEPS:
            now.look()
        if action not in ENDS:
            return None
        del waiting[key]
        item = event.selected_id if action != CANCELLED else None
        return ShownSession(user=now.user, session=now.session, lookups=now.lookups, outcome=ENDS[action], wanted=item)


def _plain(features: Mapping[str, Feature | bool] | None) -> dict[str, Feature]:
    return {name: _number(value) for name, value in (features or {}).items()}


def _number(value: Feature | bool) -> Feature:
    """Return the number that a text stands for. Other texts stay as they are."""
    if isinstance(value, str):
        if value in {"true", "false"}:
            return float(value == "true")
        try:
            return float(value)
        except ValueError:
            return value
    return None if value is None else float(value)


def _lines(path: Path) -> Iterator[bytes]:
    """Yield the lines of a file, gzipped or not."""
    left = MOST
    try:
        with stored.open_regular_file(path) as raw:
            # The name of a file does not tell whether it is gzipped.
            packed = raw.read(2) == b"\x1f\x8b"
            raw.seek(0)
            with gzip.GzipFile(fileobj=raw) if packed else raw as file:
                while line := file.readline(stored.LINE + 1):
                    left -= len(line)
                    if len(line) > stored.LINE or left < 0:
                        raise WorkspaceError(f"{path} is larger than logs of events are: split it")
                    yield line
    except (OSError, EOFError, zlib.error) as error:
        raise WorkspaceError(f"{path} is damaged: {error}; fetch the logs again") from error


TABLE_COLUMNS = ("project", "session", "query_number", "place", "prefix", "text", "expected", "outcome")


def read_sessions(path: Path) -> Iterator[ShownSession]:
    """Yield the sessions of a Parquet file, one at a time. As in events, cancelled sessions have no wanted item."""
    held: list[dict[str, Any]] = []
    batches = tables().batches(path, [*TABLE_COLUMNS, *NAMES])
    for row in (row for batch in batches for row in batch.to_pylist()):
        if held and (row["project"], row["session"]) != (held[0]["project"], held[0]["session"]):
            yield _table_session(held)
            held = []
        held.append(row)
    if held:
        yield _table_session(held)


def _table_session(rows: list[dict[str, Any]]) -> ShownSession:
    lists: dict[int, list[dict[str, Any]]] = {}
    for row in rows:
        lists.setdefault(row["query_number"], []).append(row)
    numbers: dict[str, int] = {}
    lookups = [
        Shown(
            typed=len(shown[0]["prefix"]),
            ids=[numbers.setdefault(row["text"], len(numbers)) for row in shown],
            features=[{name: row[name] for name in NAMES} for row in shown],
        )
        for shown in lists.values()
    ]
    outcome = list(lists.values())[-1][0]["outcome"]
    expected = next((numbers[row["text"]] for row in rows if row["expected"]), None)
    return ShownSession(
        user=rows[0]["project"],
        session=rows[0]["session"],
        lookups=lookups,
        outcome=outcome,
        wanted=None if outcome == "cancelled" else expected,
    )
