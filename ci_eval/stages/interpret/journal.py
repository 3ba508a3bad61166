"""The finished sessions of one file, where they outlive the worker that asks about it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path


def finished(path: Path) -> Iterator[bytes]:
    """A line per session; one in which a worker was killed does not count."""
    if path.exists():
        with path.open("rb") as file:
            yield from (line for line in file if line.endswith(b"\n"))


class Journal:
    """Goes on behind the last whole line."""

    def __init__(self, path: Path) -> None:
        whole = sum(map(len, finished(path)))
        self._file = path.open("ab")
        self._file.truncate(whole)

    def add(self, line: bytes) -> None:
        """The kernel has it then, which is as much as the death of a process asks for."""
        self._file.write(line)
        self._file.flush()

    def close(self) -> None:
        self._file.close()
