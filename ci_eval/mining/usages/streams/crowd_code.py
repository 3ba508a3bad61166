"""Recordings of crowd-code 2.0, an extension of VS Code and Cursor: JSON with actions and observations."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import msgspec

from ci_eval.mining.usages.recordings import Recording, Stream, Typings, files_of, read_whole
from ci_eval.mining.usages.snapshots import Snapshot


class Session(msgspec.Struct, rename="camel"):
    """A recording, or one part of it."""

    session_id: str
    events: list[msgspec.Raw]
    chunk_index: int = 0


class Diff(msgspec.Struct, rename="camel"):
    """What is changed; offsets are in units of UTF-16, as in VS Code."""

    range_offset: int
    range_length: int
    text: str


class Edit(msgspec.Struct, tag_field="kind", tag="edit"):
    """`source` is user where a person typed; agents and checkouts change the text, too."""

    source: str
    file: str
    diff: Diff


class Kind(msgspec.Struct):
    """Of an action."""

    kind: str = ""


class Event(msgspec.Struct):
    """`timestamp` is in milliseconds."""

    timestamp: float
    type: str
    action: msgspec.Raw = msgspec.Raw()


def read(path: Path, recording: Recording) -> Iterator[Snapshot]:
    """See Stream."""
    typings = Typings(recording.skipped)
    with files_of(path, (".json",), recording) as files:
        sessions = [session for file in files if (session := _session(file, recording))]
        for session in sorted(sessions, key=lambda each: (each.session_id, each.chunk_index)):
            for raw in session.events:
                found = _edit(raw, recording)
                if found and recording.wants(found[1].file):
                    yield from _snapshots(found[0], session.session_id, found[1], typings)
    yield from typings.end()


def _session(file: Path, recording: Recording) -> Session | None:
    data = read_whole(file, recording)
    try:
        return None if data is None else msgspec.json.decode(data, type=Session)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        recording.skipped["file that is no recording of crowd-code 2.0"] += 1
        return None


def _edit(raw: msgspec.Raw, recording: Recording) -> tuple[float, Edit] | None:
    """Seconds and the edit; None of any other event."""
    try:
        event = msgspec.json.decode(raw, type=Event)
        if event.type != "action":
            return None
        is_edit = msgspec.json.decode(event.action, type=Kind).kind == "edit"
        return (event.timestamp / 1000, msgspec.json.decode(event.action, type=Edit)) if is_edit else None
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        recording.skipped["event that cannot be read"] += 1
        return None


def _snapshots(time: float, user: str, edit: Edit, typings: Typings) -> Iterator[Snapshot]:
    typing = typings.at(user, edit.file)
    if typing is None:
        typings.skipped["edit of a file whose text is not known"] += 1
        return
    diff = edit.diff
    try:
        if edit.source == "user":
            yield from typing.edit(time, diff.range_offset, diff.range_length, diff.text, units=True)
        else:
            typings.skipped["edit that no person made: applied without a snapshot"] += 1
            typing.change_silently(diff.range_offset, diff.range_length, diff.text)
    except ValueError as error:
        yield from typings.lose(user, edit.file, str(error))


STREAM = Stream(summary="crowd-code 2.0, an extension of VS Code and Cursor: JSON", read=read)
