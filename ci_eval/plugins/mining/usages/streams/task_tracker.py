"""The recordings of JetBrains' TaskTracker: a CSV with the whole text of a file in each row."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from ci_eval.plugins.mining.usages.recordings import Recording, Stream, Typings, read_rows, seconds, unpack_files
from ci_eval.plugins.mining.usages.snapshots import Snapshot

COLUMNS = ("date", "fileName", "fragment")


def read(path: Path, recording: Recording) -> Iterator[Snapshot]:
    """Yield the snapshots of TaskTracker's recordings."""
    typings = Typings(recording.skipped)
    with unpack_files(path, (".csv",), recording) as files:
        for file in files:
            user = file.stem if file.parent == path else f"{file.parent.name}/{file.stem}"
            for row in read_rows(file, recording, COLUMNS):
                language = row.get("language", "").lower()
                # Data frames write `nan` for an empty cell.
                if language not in {"", "nan", "undefined", recording.language}:
                    recording.skipped["event of a file of another language"] += 1
                    continue
                try:
                    time = seconds(row["date"])
                except ValueError:
                    recording.skipped["row without a date"] += 1
                    continue
                if typing := typings.at(user, recording.named(row["fileName"])):
                    yield from typing.become(time, row["fragment"])
    yield from typings.end()


STREAM = Stream(summary="JetBrains' TaskTracker: CSV", read=read)
