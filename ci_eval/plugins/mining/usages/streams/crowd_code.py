"""The recordings of crowd-code 2.0, an extension of VS Code and Cursor: JSON with actions and observations."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import msgspec

from ci_eval.plugins.mining.usages.patching import apply_patch
from ci_eval.plugins.mining.usages.recordings import Recording, Stream, Typings, read_whole, unpack_files
from ci_eval.plugins.mining.usages.snapshots import Snapshot


class Session(msgspec.Struct, rename="camel"):
    """A recording, or one part of it."""

    session_id: str
    events: list[msgspec.Raw]
    chunk_index: int = 0


class Diff(msgspec.Struct, rename="camel"):
    """A change of a text. Offsets are in units of UTF-16, as in VS Code."""

    range_offset: int
    range_length: int
    text: str


class Edit(msgspec.Struct, tag_field="kind", tag="edit"):
    """An edit of a file. `source` is "user" if a person typed; agents and checkouts change the text, too."""

    source: str
    file: str
    diff: Diff


class FileChange(msgspec.Struct, tag_field="kind", tag="file_change", rename="camel"):
    """A change made outside of the editor, as a unified diff."""

    file: str
    change_type: str
    diff: str | None = None


class Kind(msgspec.Struct):
    """The kind of an action."""

    kind: str = ""


class Event(msgspec.Struct, rename="camel"):
    """An event of a session. `timestamp` is in milliseconds."""

    timestamp: float
    type: str
    action: msgspec.Raw = msgspec.Raw()
    snapshot_id: str = ""
    """Id of the workspace's content, if the type is `workspace_snapshot`."""


ACTIONS: dict[str, type[Edit | FileChange]] = {"edit": Edit, "file_change": FileChange}
SNAPSHOTS = "snapshots"
"""The folder, beside the parts of a recording, with the texts of the workspace at some times."""


def read(path: Path, recording: Recording) -> Iterator[Snapshot]:
    """Yield the snapshots of crowd-code's recordings."""
    with unpack_files(path, (".json",), recording) as files:
        parts = [file for file in files if file.parent.name != SNAPSHOTS]
        sessions = [(session, file) for file in parts if (session := _session(file, recording))]
        # By name, chunk_10 would come before chunk_2.
        sessions.sort(key=lambda session_and_file: (session_and_file[0].session_id, session_and_file[0].chunk_index))
        typings = Typings(recording.skipped)
        workspaces: dict[str, _Workspace] = {}
        for session, file in sessions:
            known = workspaces.setdefault(session.session_id, _Workspace(session.session_id, typings, recording))
            for raw in session.events:
                yield from known.read(raw, file.parent / SNAPSHOTS)
        yield from typings.end()


def _session(file: Path, recording: Recording) -> Session | None:
    data = read_whole(file, recording)
    try:
        return None if data is None else msgspec.json.decode(data, type=Session)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        recording.skipped["file that is no recording of crowd-code 2.0"] += 1
        return None


class _Workspace:
    """The files of one session."""

    def __init__(self, user: str, typings: Typings, recording: Recording) -> None:
        self._user, self._typings, self._recording = user, typings, recording
        self._texts: dict[str, str] = {}
        """Absolute path → text at the last snapshot."""

    def read(self, raw: msgspec.Raw, folder: Path) -> Iterator[Snapshot]:
        """Yield the snapshots of the next event. `folder` has the snapshots of the workspace."""
        try:
            event = msgspec.json.decode(raw, type=Event)
            kind = msgspec.json.decode(event.action, type=Kind).kind if event.type == "action" else ""
            action = msgspec.json.decode(event.action, type=ACTIONS[kind]) if kind in ACTIONS else None
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
            self._recording.skipped["event that cannot be read"] += 1
            return
        if event.type == "workspace_snapshot":
            self._texts = self._snapshot(folder, event.snapshot_id)
        elif action and self._recording.wants(action.file):
            yield from self._act(event.timestamp / 1000, action)

    def _snapshot(self, folder: Path, name: str) -> dict[str, str]:
        """Return the texts of the workspace's files by path. If they are missing, return nothing and count that."""
        try:
            # Other names might lead out of the folder.
            data = read_whole(folder / f"{name}.json", self._recording) if name.isidentifier() else None
            texts = msgspec.json.decode(data or b"", type=dict[str, str])
        except (OSError, msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
            self._recording.skipped["snapshot of the workspace that cannot be read"] += 1
            return {}
        return {path.replace("\\", "/"): text for path, text in texts.items()}

    def _act(self, time: float, action: Edit | FileChange) -> Iterator[Snapshot]:
        file = action.file
        if not self._typings.knows(self._user, file):
            # Sessions have a file's path in the workspace, snapshots have the absolute path.
            held = [text for path, text in self._texts.items() if path.endswith(f"/{file}")]
            if len(held) == 1:
                self._typings.find(self._user, file, held[0])
        # A created file had no text before, and a deleted one has none after.
        if isinstance(action, FileChange) and action.change_type != "change":
            self._typings.find(self._user, file, "")
        typing = self._typings.at(self._user, file)
        if typing is None:
            self._typings.skipped["edit of a file whose text is not known"] += 1
            return
        try:
            if isinstance(action, FileChange):
                self._typings.skipped["change on disk: applied without a snapshot"] += 1
                if action.change_type != "delete":
                    typing.text = apply_patch(typing.text, action.diff or "")
            elif action.source == "user":
                diff = action.diff
                yield from typing.edit(time, diff.range_offset, diff.range_length, diff.text, units=True)
            else:
                self._typings.skipped["edit that no person made: applied without a snapshot"] += 1
                typing.change_silently(action.diff.range_offset, action.diff.range_length, action.diff.text)
        except ValueError as error:
            yield from self._typings.lose(self._user, file, str(error))


STREAM = Stream(summary="crowd-code 2.0, an extension of VS Code and Cursor: JSON", read=read)
