"""The finished sessions of one file, where they outlive the worker that asks about it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path


def read_journal(path: Path) -> Iterator[bytes]:
    """Yield one line for each finished session."""
    if path.exists():
        with path.open("rb") as file:
            # A line without an end is of a session in which a worker was killed.
            yield from (line for line in file if line.endswith(b"\n"))


class Journal:
    """A file of sessions that goes on behind the last whole line."""

    def __init__(self, path: Path) -> None:
        whole = sum(map(len, read_journal(path)))
        self._file = path.open("ab")
        # A killed worker may have left half a line, to which the next line would be added.
        self._file.truncate(whole)

    def add(self, line: bytes) -> None:
        """Write a line through to the kernel."""
        self._file.write(line)
        # What the kernel has outlives the process, which is all that is asked for.
        self._file.flush()

    def close(self) -> None:
        self._file.close()
