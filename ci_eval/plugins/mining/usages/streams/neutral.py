"""The neutral format, which any recorder can write: JSON lines with edits and calls of completion."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from itertools import chain
from pathlib import Path

import msgspec
from msgspec.structs import replace

from ci_eval.core.model import pick
from ci_eval.fetch.dataset import LONGEST, read_lines
from ci_eval.plugins.mining.usages.histories import RecordedLookup, Recording, Selection, Snapshot, Stream, unpack_files


class Event(msgspec.Struct, kw_only=True):
    """The fields that all lines have. `time` is in seconds."""

    t: float
    user: str = ""
    file: str


class Edit(Event, tag_field="op", tag="edit", rename={"deleted": "del", "inserted": "ins"}):
    """An edit that replaces `del` characters at `offset` (in code points) by `ins`."""

    offset: int
    deleted: int = 0
    inserted: str = ""


class Completion(Event, tag_field="op", tag="completion"):
    """A call of completion. The caret is at `offset`, after `prefix`."""

    offset: int
    prefix: str = ""
    candidates: list[str] = []
    outcome: str = ""
    """`select`, `typed` or `cancel`."""
    index: int = 0
    item: str = ""

    @property
    def taken(self) -> str:
        """Return the recorded item or, if there is none, the item at `index` if an item was selected."""
        at = self.candidates[self.index : self.index + 1] if self.index >= 0 else []
        return self.item or (next(iter(at), "") if self.outcome == "select" else "")


DECODER: msgspec.json.Decoder[Edit | Completion] = msgspec.json.Decoder(Edit | Completion)
IDLE = 2.0
"""A snapshot is taken if there are no edits for this time, in seconds."""


class EditReplay:
    """The replay of one user's edits to a file, with snapshots before pauses, after new lines, and at completions."""

    def __init__(self, user: str, file: str) -> None:
        self.user, self.file, self.text = user, file, ""
        self._time: float | None = None
        self._taken: str | None = None

    def edit(self, time: float, offset: int, length: int, new: str) -> Iterator[Snapshot]:
        """Replace `length` characters at `offset` (code points). Raises ValueError if they are outside of the text."""
        # Check the range before a snapshot is taken.
        if not 0 <= offset <= offset + length <= len(self.text):
            raise ValueError("edit outside the known text")
        if self._time is not None and time - self._time >= IDLE:
            yield from self.look(self._time)
        self._time = time
        self.text = self.text[:offset] + new + self.text[offset + length :]
        if "\n" in new:
            yield from self.look(time)

    def look(self, time: float) -> Iterator[Snapshot]:
        if self.text != self._taken:
            self._taken = self.text
            yield Snapshot(user=self.user, file=self.file, time=time, text=_lines(self.text))

    def complete(self, time: float, selection: Selection | None) -> Snapshot:
        """Take a snapshot at a call of completion. Raises ValueError if the selection is outside of the text."""
        if selection:
            if not 0 <= selection.offset <= selection.offset + selection.typed <= len(self.text):
                raise ValueError("completion outside the known text")
            # Snapshots have normalised line ends of one character, so the offset may become smaller.
            selection = replace(selection, offset=len(_lines(self.text[: selection.offset])))
        text = _lines(self.text)
        return Snapshot(user=self.user, file=self.file, time=time, text=text, selection=selection, is_trigger=True)

    def end(self) -> Iterator[Snapshot]:
        if self._time is not None:
            yield from self.look(self._time)


def _lines(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\r", "\n") if "\r" in text else text


def read(path: Path, recording: Recording) -> Iterator[Snapshot]:
    typings: dict[tuple[str, str], EditReplay | None] = {}
    for event in _events(path, recording):
        yield from _snapshots(event, typings, recording)
    for typing in filter(None, typings.values()):
        yield from typing.end()


def lookups(path: Path, recording: Recording) -> Iterator[RecordedLookup]:
    typings: dict[tuple[str, str], EditReplay | None] = {}
    for event in _events(path, recording):
        if isinstance(event, Completion):
            typing = typings.get((event.user, event.file))
            text = typing.text if typing else ""
            start = event.offset - len(event.prefix)
            known = start >= 0 and event.offset <= len(text) and text.startswith(event.prefix, start)
            recorded = pick(event, "user", "file", "prefix", "candidates", "outcome")
            yield RecordedLookup(**recorded, start=start, before=text[:start] if known else None, item=event.taken)
        else:
            # Only replay the edit; its snapshots are not needed.
            deque(_snapshots(event, typings, recording), maxlen=0)


def _events(path: Path, recording: Recording) -> Iterator[Edit | Completion]:
    with unpack_files(path, (".jsonl",), recording) as files:
        for line in chain.from_iterable(map(read_lines, files)):
            if line is None:
                recording.skipped[f"line of more than {LONGEST >> 20} MiB"] += 1
            if not line or not line.strip():
                continue
            try:
                event = DECODER.decode(line)
            except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
                recording.skipped["line that is neither an edit nor a completion"] += 1
                continue
            if event.file.endswith(recording.ends):
                yield event
            else:
                recording.skipped["event of a file of another language"] += 1


def _snapshots(
    event: Edit | Completion, typings: dict[tuple[str, str], EditReplay | None], recording: Recording
) -> Iterator[Snapshot]:
    """Apply an event and yield snapshots. If the event does not fit the text, the entry in `typings` becomes None."""
    at = event.user, event.file
    typing = typings.setdefault(at, EditReplay(*at))
    if typing is None:
        recording.skipped["event of a file whose text is unknown"] += 1
        return
    try:
        if isinstance(event, Edit):
            yield from typing.edit(event.t, event.offset, event.deleted, event.inserted)
        else:
            typed = len(event.prefix)
            is_taken = event.outcome == "select" and event.taken
            selection = Selection(item=event.taken, offset=event.offset - typed, typed=typed) if is_taken else None
            yield typing.complete(event.t, selection)
    except ValueError as error:
        recording.skipped[str(error)] += 1
        typings[at] = None
        yield from typing.end()


STREAM = Stream(
    summary="JSON lines with edits and completions; docs/recommenders.md describes the fields",
    read=read,
    lookups=lookups,
)
