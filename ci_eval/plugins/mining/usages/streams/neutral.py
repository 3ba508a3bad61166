"""The format that any recorder can write: JSON lines with edits and calls of completion."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from pathlib import Path

import msgspec

from ci_eval.plugins.mining.usages.histories import EditReplay, Selection, Snapshot
from ci_eval.plugins.mining.usages.recordings import RecordedLookup, Recording, Stream, read_lines, unpack_files


class Event(msgspec.Struct, kw_only=True):
    """The fields of all lines. `time` is in seconds."""

    t: float
    user: str = ""
    file: str


class Edit(Event, tag_field="op", tag="edit", rename={"deleted": "del", "inserted": "ins"}):
    """Replace `del` characters at `offset` (code points) by `ins`."""

    offset: int
    deleted: int = 0
    inserted: str = ""


class Completion(Event, tag_field="op", tag="completion"):
    """The caret is at `offset`, after `prefix`."""

    offset: int
    prefix: str = ""
    candidates: list[str] = []
    outcome: str = ""
    """select, typed or cancel."""
    index: int = 0
    item: str = ""

    @property
    def taken(self) -> str:
        """Return the recorded item; without one, the item at the index if it was selected."""
        at = self.candidates[self.index : self.index + 1] if self.index >= 0 else []
        return self.item or (next(iter(at), "") if self.outcome == "select" else "")


DECODER: msgspec.json.Decoder[Edit | Completion] = msgspec.json.Decoder(Edit | Completion)


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
            yield RecordedLookup(
                user=event.user,
                file=event.file,
                start=start,
                before=text[:start] if known else None,
                prefix=event.prefix,
                candidates=event.candidates,
                outcome=event.outcome,
                item=event.taken,
            )
        else:
            # Edits must be replayed, but their snapshots are not needed.
            deque(_snapshots(event, typings, recording), maxlen=0)


def _events(path: Path, recording: Recording) -> Iterator[Edit | Completion]:
    with unpack_files(path, (".jsonl",), recording) as files:
        for file in files:
            for line in read_lines(file, recording):
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
    """Yield snapshots. If an event cannot be applied to the file's text, the file's entry in `typings` becomes None."""
    at = event.user, event.file
    typing = typings.setdefault(at, EditReplay(*at))
    if typing is None:
        recording.skipped["event of a file whose text is not known"] += 1
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
    summary="JSON lines with edits and completions, as docs/recommenders.md describes them", read=read, lookups=lookups
)
