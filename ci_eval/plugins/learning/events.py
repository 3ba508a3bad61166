"""The reading of event logs of JetBrains' IDEs and plugin, and their conversion into training data.

A line has eight columns, separated by tabs: timestamp, recorder, recorder's version, user, session, bucket, action, and
the event as JSON. The event that first displays an item describes it. Later events refer to the item by number, and
have only the changes (`itemsDiff`).
"""

from __future__ import annotations

import gzip
import hashlib
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

import msgspec
import numpy as np
from msgspec.structs import replace
from numpy.typing import NDArray

from ci_eval.core.base import stored
from ci_eval.core.base.errors import NothingToEvaluate, WorkspaceError
from ci_eval.core.logs.features import CATEGORIES, NAMES, SCHEMA
from ci_eval.plugins.learning.training import Label, LoggedLookup, LookupRows, ShownList, select_lookups

Feature = float | str | None
STARTED, CANCELLED = "COMPLETION_STARTED", "COMPLETION_CANCELED"
TAKEN, TYPED = "EXPLICIT_SELECT", "TYPED_SELECT"
STEPS = {"TYPE": 1, "BACKSPACE": -1}
"""Action → change of the number of typed characters."""
MOVES = {"UP", "DOWN"}
ENDS = {TAKEN: "selected", TYPED: "typed", CANCELLED: "cancelled"}
COLUMNS = 8
MOST_BYTES = 4_000_000_000
"""The size limit of one unpacked file, in bytes."""


class Shown(msgspec.Struct, frozen=True, kw_only=True):
    """A list that the user saw. `typed`: the length of the prefix."""

    typed: int
    ids: Sequence[int]
    """The numbers of the items, in order."""
    features: Sequence[Mapping[str, Feature]]
    common: Mapping[str, Feature] = msgspec.field(default_factory=dict)
    """The features that all items share."""


class ShownSession(msgspec.Struct, frozen=True, kw_only=True):
    user: str
    session: str
    lookups: Sequence[Shown]
    outcome: str
    """`selected`, `typed` (the user typed an item in full) or `cancelled`."""
    wanted: int | None
    """The id of the item that the user took or typed. None if the session was cancelled or the id is unknown."""

    def rank(self, lookup: Shown) -> int | None:
        """Return the rank of the wanted item in a list. Return None if the item is unknown or not in the list."""
        return lookup.ids.index(self.wanted) + 1 if self.wanted in lookup.ids else None


class Item(msgspec.Struct, frozen=True):
    id: int
    length: int = 0
    relevance: dict[str, Feature | bool] | None = None


class Difference(msgspec.Struct, frozen=True):
    id: int
    added: dict[str, Feature | bool] | None = None
    changed: dict[str, Feature | bool] | None = None
    removed: tuple[str, ...] | None = None


class Event(msgspec.Struct, frozen=True, rename="camel"):
    completion_list_ids: tuple[int, ...] | None = None
    new_completion_list_items: tuple[Item, ...] | None = None
    items_diff: tuple[Difference, ...] | None = None
    query_length: int | None = None
    selected_id: int | None = None
    user_factors: dict[str, Feature | bool] | None = None
    context_factors: dict[str, Feature | bool] | None = None
    validation_status: str = "UNKNOWN"


class _Open(msgspec.Struct):
    typed: int
    common: dict[str, Feature]
    items: dict[int, dict[str, Feature]] = msgspec.field(default_factory=dict)
    ids: Sequence[int] = ()
    lookups: list[Shown] = msgspec.field(default_factory=list)

    def update(self, event: Event) -> None:
        """Apply an event to the list. Raises KeyError if the event changes an item that no event has described."""
        for item in event.new_completion_list_items or ():
            self.items[item.id] = _plain(item.relevance)
        for difference in event.items_diff or ():
            now = {**self.items[difference.id], **_plain(difference.added), **_plain(difference.changed)}
            removed = difference.removed or ()
            self.items[difference.id] = {name: value for name, value in now.items() if name not in removed}
        if event.completion_list_ids is not None:
            self.ids = event.completion_list_ids


class EventLog:
    def __init__(self) -> None:
        self.left_out: Counter[str] = Counter()
        """Reason → number of lines, events or sessions that are left out."""
        self._open: dict[tuple[str, str], _Open | None] = {}
        """(user, session) → the session so far, or None if the session cannot be used."""

    def sessions(self, files: Iterable[Path]) -> Iterator[ShownSession]:
        """Yield the sessions in the order in which they end. Raises WorkspaceError if a file cannot be read."""
        self._open = {}
        for ended in (self._line(line) for path in files for line in _lines(path)):
            if ended and ended.lookups:
                yield ended
            elif ended:
                self.left_out["sessions in which no list was shown"] += 1
        if unfinished := sum(open_session is not None for open_session in self._open.values()):
            self.left_out["sessions that do not end"] += unfinished

    def _line(self, line: bytes) -> ShownSession | None:
        """Return the session that ends with this line, or None if no session does."""
        if not line.strip():
            return None
        try:
            _, _, _, user, session, _, action, text = line.decode().rstrip("\r\n").split("\t", COLUMNS - 1)
            event = msgspec.json.decode(text, type=Event)
        except (ValueError, RecursionError):
            self.left_out["lines that are not events"] += 1
            return None
        if event.validation_status == "INVALID":
            self.left_out["events that their recorder called invalid"] += 1
            return None
        try:
            return self._event(action, event, (user, session))
        except KeyError:
            # With None, further events of the session are ignored, and the session is not counted twice.
            self._open[user, session] = None
            self.left_out["sessions with an item that is never described"] += 1
            return None

    def _event(self, action: str, event: Event, key: tuple[str, str]) -> ShownSession | None:
        if action == STARTED:
            common = {f"user_{name}": value for name, value in _plain(event.user_factors).items()}
            common |= _plain(event.context_factors)
            self._open[key] = _Open(typed=event.query_length or 0, common=common)
        elif key not in self._open and (action in STEPS or action in MOVES or action in ENDS):
            self.left_out["events of sessions that do not begin"] += 1
        now = self._open.get(key)
        if now is None:
            return None
        if action == STARTED or action in STEPS or action in MOVES:
            now.update(event)
        if action in STEPS:
            changed = now.typed + STEPS[action]
            now.typed = max(changed, 0) if event.query_length is None else event.query_length
        if now.ids and (action == STARTED or action in STEPS):
            shown = [now.items[item_id] for item_id in now.ids]
            now.lookups.append(Shown(typed=now.typed, ids=tuple(now.ids), features=shown, common=now.common))
        if action not in ENDS:
            return None
        del self._open[key]
        item = event.selected_id if action != CANCELLED else None
        return ShownSession(user=key[0], session=key[1], lookups=now.lookups, outcome=ENDS[action], wanted=item)


def _plain(features: Mapping[str, Feature | bool] | None) -> dict[str, Feature]:
    """Convert numbers and flags into floats, even if they are written as texts. Other texts are unchanged."""
    plain: dict[str, Feature] = {}
    for name, value in (features or {}).items():
        known = float(value == "true") if value in ("true", "false") else value
        try:
            plain[name] = None if known is None else float(known)
        except ValueError:
            plain[name] = value
    return plain


def _lines(path: Path) -> Iterator[bytes]:
    left = MOST_BYTES
    try:
        with stored.open_regular_file(path) as raw:
            # The file name does not tell whether the file is gzipped.
            packed = raw.read(2) == b"\x1f\x8b"
            raw.seek(0)
            with gzip.GzipFile(fileobj=raw) if packed else raw as file:
                while line := file.readline(stored.LINE + 1):
                    left -= len(line)
                    if len(line) > stored.LINE or left < 0:
                        raise WorkspaceError(f"{path} is too large for a log of events: split it")
                    yield line
    except (OSError, EOFError, zlib.error) as error:
        raise WorkspaceError(f"{path} is damaged: {error}; fetch the logs again") from error


POSITION = "position"
"""A feature that is computed if the logs lack it."""
MOST_FEATURES = 2_000


class FeatureTable(msgspec.Struct, frozen=True):
    names: tuple[str, ...]
    words: dict[str, dict[str, int]] = msgspec.field(default_factory=dict)
    """Feature → text value → the number that stands for the value."""

    @classmethod
    def of(cls, sessions: Iterable[ShownSession]) -> FeatureTable:
        """Return a table of all features in the logs, or of ci-eval's own features if the logs have all of them."""
        seen: dict[str, set[str]] = {}
        for lookup in (lookup for session in sessions for lookup in session.lookups):
            for features in (*lookup.features, lookup.common):
                for name, value in features.items():
                    seen.setdefault(name, set()).update([value] if isinstance(value, str) else [])
        if set(NAMES) <= seen.keys():
            return cls(NAMES)
        # The digest depends on the order of the names, so this order must not depend on the logs.
        names = sorted(seen)[:MOST_FEATURES]
        words = {name: {word: number for number, word in enumerate(sorted(seen[name]))} for name in names if seen[name]}
        return cls(tuple(dict.fromkeys([*names, POSITION])), words)

    @property
    def categories(self) -> tuple[str, ...]:
        ours = set(CATEGORIES) if set(self.names) <= set(NAMES) else set()
        return tuple(name for name in self.names if name in ours or name in self.words)

    @property
    def schema(self) -> str:
        if self.names == NAMES:
            return SCHEMA
        return hashlib.blake2b("\0".join(self.names).encode(), digest_size=8).hexdigest()

    def rows(self, lookup: Shown) -> NDArray[np.float32]:
        """Return the features of a list's items, of shape (items, features). Missing features are NaN."""
        rows = np.full((len(lookup.features), len(self.names)), np.nan, dtype=np.float32)
        for place, features in enumerate(lookup.features):
            for column, name in enumerate(self.names):
                value = features.get(name, lookup.common.get(name))
                if isinstance(value, str):
                    value = self.words.get(name, {}).get(value)
                elif value is None and name == POSITION:
                    value = place + 1
                if value is not None:
                    rows[place, column] = value
        return rows


def training_rows(
    sessions: Sequence[ShownSession], table: FeatureTable, label: Label, seed: int, *, side: str, project: str
) -> LookupRows:
    """Return the lists with the wanted item, from sessions in which the user took this item. With the label "expected",
    the user may also have typed the item in full. Raises NothingToEvaluate."""
    usable = [session for session in sessions if session.outcome == "selected" or label == "expected"]
    if not any(session.wanted is not None for session in usable):
        raise NothingToEvaluate(f"in the {side} side of the logs no item of a list was taken; give more logs")
    lookups = (
        LoggedLookup(project, identity(session), number, np.array(lookup.ids) == session.wanted, table.rows(lookup))
        for session in usable
        for number, lookup in enumerate(session.lookups)
        # A list without the wanted item teaches nothing.
        if session.wanted in lookup.ids
    )
    rows = select_lookups(lookups, label, seed, side=side, taken=None)
    return replace(rows, names=table.names, categories=table.categories, schema=table.schema)


def identity(session: ShownSession) -> str:
    # Different users may have the same session id.
    return f"{session.user} {session.session}"


def make_lists(sessions: Sequence[ShownSession]) -> Iterator[ShownList]:
    # Cancelled sessions have no wanted item, so `rank` returns None for their lists.
    for session in sessions:
        for number, lookup in enumerate(session.lookups, 1):
            outcome = session.outcome if number == len(session.lookups) else "typed"
            yield ShownList(identity(session), number - 1, lookup.typed, session.rank(lookup), outcome)
