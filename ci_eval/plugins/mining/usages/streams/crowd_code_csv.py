"""The recordings of crowd-code 1.0 and of VS Code Recorder before it: a CSV for each session."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from ci_eval.plugins.mining.usages.recordings import (
    Recording,
    Stream,
    Typings,
    number,
    read_rows,
    unpack_files,
    whole_number,
)
from ci_eval.plugins.mining.usages.snapshots import Snapshot

COLUMNS = ("Time", "File", "RangeOffset", "RangeLength", "Text", "Type")
NO_FILES = {"TERMINAL", ""}


def read(path: Path, recording: Recording) -> Iterator[Snapshot]:
    """Yield the snapshots of crowd-code's recordings."""
    typings = Typings(recording.skipped)
    with unpack_files(path, (".csv",), recording) as files:
        for file in files:
            user = file.stem if file.parent == path else f"{file.parent.name}/{file.stem}"
            for row in read_rows(file, recording, COLUMNS):
                if row["File"] not in NO_FILES and row["Type"] in {"content", "tab"} and recording.wants(row["File"]):
                    yield from _snapshots(user, row, typings)
    yield from typings.end()


def _snapshots(user: str, row: dict[str, str], typings: Typings) -> Iterator[Snapshot]:
    file = row["File"]
    # The recorder escapes line ends and tabs, but not backslashes.
    text = row["Text"].replace("\\n", "\n").replace("\\r", "\r").replace("\\t", "\t")
    if row["Type"] == "tab":
        # When a file is first opened, the recording has its whole text.
        if text:
            typings.find(user, file, text)
        return
    typing = typings.at(user, file)
    if typing is None:
        typings.skipped["edit of a file whose text is not known"] += 1
        return
    try:
        time = number(row["Time"]) / 1000
        offset, length = whole_number(row["RangeOffset"]), whole_number(row["RangeLength"])
    except ValueError:
        typings.skipped["row whose time or offsets are no numbers"] += 1
        return
    try:
        yield from typing.edit(time, offset, length, text, units=True)
    except ValueError as error:
        yield from typings.lose(user, file, str(error))


STREAM = Stream(summary="crowd-code 1.0 and VS Code Recorder: CSV", read=read)
