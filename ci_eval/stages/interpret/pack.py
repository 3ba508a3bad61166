"""The sessions of a file on their way to disk."""

from __future__ import annotations

from collections import Counter

import msgspec

from ci_eval import stored
from ci_eval.model import (
    FileError,
    Session,
    SourceFile,
    Status,
)


class SessionEnd(msgspec.Struct):
    """How a stored session ended."""

    status: Status
    id: str = ""
    message: str = ""


class Pack:
    """The sessions of a file on their way to disk: packed one by one, since all together may be too many."""

    def __init__(self, source: SourceFile) -> None:
        self.statuses: Counter[Status] = Counter()
        self._packer = stored.Packer()
        self._path = source.path
        self._write(source)
        self._first_trouble = ""
        self._troubled = 0

    def add(self, session: Session) -> bytes:
        """Append it; its line."""
        line = self._write(session)
        self._count(session.status, session.message)
        return line

    def take_over(self, line: bytes) -> SessionEnd:
        """Append what another worker finished."""
        self._packer.add(line)
        ended = msgspec.json.decode(line, type=SessionEnd)
        self._count(ended.status, ended.message)
        return ended

    def _count(self, status: Status, message: str) -> None:
        self.statuses[status] += 1
        if message:
            self._first_trouble = self._first_trouble or f"{status.value}: {message}"
            self._troubled += 1

    def close(self) -> bytes:
        """The whole."""
        return self._packer.close()

    @property
    def trouble(self) -> FileError | None:
        """The first session that was skipped or failed, in the name of all of them."""
        if not self._troubled:
            return None
        first, _, rest = self._first_trouble.partition("\n")
        message = f"{self._troubled} session{'s' if self._troubled > 1 else ''}: {first}"
        return FileError(path=self._path, stage="interpret", message=message, sessions=self._troubled, trace=rest)

    def _write(self, value: SourceFile | Session) -> bytes:
        line = msgspec.json.encode(value) + b"\n"
        self._packer.add(line)
        return line
