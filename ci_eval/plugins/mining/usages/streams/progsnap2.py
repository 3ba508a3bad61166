"""The datasets in ProgSnap2, a standard for the work of students: MainTable.csv and CodeStates."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from ci_eval.core.base.files import below, read_own
from ci_eval.core.grammar.document import NotText, decode
from ci_eval.plugins.mining.usages.recordings import (
    Recording,
    Stream,
    Typings,
    number,
    read_rows,
    seconds,
    unpack_files,
)
from ci_eval.plugins.mining.usages.snapshots import IDLE, Snapshot

COLUMNS = ("SubjectID", "EventType", "CodeStateID")
TIMES = ("ClientTimestamp", "ServerTimestamp")
OF_STATES = ("CodeStateID", "Code")


def read(path: Path, recording: Recording) -> Iterator[Snapshot]:
    """Yield the snapshots of a dataset."""
    typings = Typings(recording.skipped)
    with unpack_files(path, ("MainTable.csv",), recording) as tables:
        if not tables:
            recording.skipped["folder without a MainTable.csv"] += 1
        for table in tables:
            states = _States(table.parent / "CodeStates", recording)
            rows = [row for row in read_rows(table, recording, COLUMNS) if normalise_state(row["CodeStateID"])]
            for position, row in enumerate(sorted(rows, key=_order)):
                time = _time(row, position)
                task = "/".join(filter(None, (row.get("AssignmentID"), row.get("ProblemID"))))
                for name, text in states.of(normalise_state(row["CodeStateID"])).items():
                    file = "/".join(filter(None, (task, name)))
                    if typing := typings.at(row["SubjectID"], file):
                        yield from typing.become(time, text)
    yield from typings.end()


def normalise_state(name: str) -> str:
    """Return the id of a state of the code as one text for all ways to write a number; an empty text for none.

    A data frame with gaps in a column of numbers writes `1` as `1.0`, or `1e3`, and a gap as `nan`.
    """
    text = name.strip()
    if text.lower() in {"nan", "none", "null", "<na>", "na"}:
        return ""
    try:
        value = float(text)
    except ValueError:
        return text
    # From 2^53 on, floats do not tell all whole numbers apart.
    return str(int(value)) if value.is_integer() and abs(value) < 2**53 and not re.match(r"0\d", text) else text


def _order(row: Mapping[str, str]) -> float:
    try:
        return number(row.get("Order", "") or "0")
    except ValueError:
        return 0


def _time(row: Mapping[str, str], position: int) -> float:
    """Return the time of an event in seconds."""
    for name in TIMES:
        try:
            return seconds(row.get(name, ""))
        except ValueError:  # noqa: PERF203 - the next column may have it
            continue
    # Without a recorded time, events are so far apart that each makes a snapshot.
    return position * IDLE


class _States:
    """The texts of a dataset's files, by the state of the code: in a table or in folders."""

    def __init__(self, folder: Path, recording: Recording) -> None:
        self.folder, self.recording = folder, recording
        self._table: dict[str, Mapping[str, str]] = {}
        for table in (folder / "CodeStates.csv", folder / "CodeState.csv"):
            if table.is_file():
                rows = read_rows(table, recording, OF_STATES)
                self._table |= {normalise_state(row["CodeStateID"]): {recording.named(""): row["Code"]} for row in rows}

    def of(self, state: str) -> Mapping[str, str]:
        """Return the texts of a state's files by path."""
        return self._table.get(state) or dict(self._read(state))

    def _read(self, state: str) -> Iterator[tuple[str, str]]:
        start = self.folder / state
        if not start.is_dir() and self.folder.is_dir():
            # Only the table, or only the folders, may have gone through a data frame.
            named = (path for path in self.folder.iterdir() if normalise_state(path.name) == state)
            start = next(named, start)
        # An id may be a path that leads out of the folder.
        if not start.is_dir() or not start.resolve().is_relative_to(self.folder.resolve()):
            self.recording.skipped["event whose state of the code is missing"] += 1
            return
        for path in sorted(below(start, self.folder, self.recording.ends)):
            if (text := self._text(path)) is not None:
                yield path.partition("/")[2], text

    def _text(self, path: str) -> str | None:
        try:
            return decode(read_own(self.folder, path))
        except (NotText, OSError) as error:
            self.recording.skipped[f"file of a state that cannot be read: {error}"] += 1
            return None


STREAM = Stream(summary="ProgSnap2: a folder with MainTable.csv and CodeStates", read=read)
