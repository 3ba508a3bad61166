"""The sessions of a file on their way to disk."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from types import MappingProxyType

import msgspec

from ci_eval.core.base import stored
from ci_eval.core.model import (
    UNASKED,
    Determinism,
    FileError,
    Session,
    SourceFile,
    Status,
)


class SessionEnd(msgspec.Struct):
    """The end of a stored session: its status, and how it was repeated."""

    status: Status
    id: str = ""
    message: str = ""
    rounds: int = 1
    again: int = 0
    differing: int = 0


def measure_determinism(session: Session | SessionEnd) -> Determinism:
    """Return what one session tells of whether the engine answers alike: nothing, if it was asked once."""
    asked = session.status not in UNASKED and (session.rounds > 1 or session.again > 0)
    return Determinism(asked=int(asked), differed=int(asked and session.differing > 0))


def encode_line(value: SourceFile | Session) -> bytes:
    """Return the value as it is stored."""
    return msgspec.json.encode(value) + b"\n"


class Pack:
    """The sessions of a file on their way to disk: packed one by one, since all together may be too many."""

    def __init__(self, source: SourceFile) -> None:
        self.statuses: Counter[Status] = Counter()
        self.state = Determinism()
        self._packer = stored.Packer()
        self._path = source.path
        self._write(source)
        self._first_trouble = ""
        self._troubled = 0

    def add(self, session: Session) -> bytes:
        """Add a session; return its line."""
        line = self._write(session)
        self._count(session)
        return line

    def take_over(self, line: bytes, instead: Mapping[str, Session] = MappingProxyType({})) -> SessionEnd:
        """Append a stored session, or the one of the same id that stands `instead` of it."""
        # The suggestions, which are most of a line, stay encoded.
        ended = msgspec.json.decode(line, type=SessionEnd)
        if session := instead.get(ended.id):
            self.add(session)
        else:
            self._packer.add(line)
            self._count(ended)
        return ended

    def _count(self, session: Session | SessionEnd) -> None:
        self.statuses[session.status] += 1
        if session.rounds > 1 or session.again:
            self.state += measure_determinism(session)
        if session.message:
            self._first_trouble = self._first_trouble or f"{session.status.value}: {session.message}"
            self._troubled += 1

    def close(self) -> bytes:
        """Return all sessions as packed bytes."""
        return self._packer.close()

    @property
    def trouble(self) -> FileError | None:
        """Return the first session that was skipped or failed, in the name of all of them; None if none was."""
        if not self._troubled:
            return None
        first, _, trace = self._first_trouble.partition("\n")
        message = f"{self._troubled} session{'s' if self._troubled > 1 else ''}: {first}"
        return FileError(path=self._path, stage="interpret", message=message, sessions=self._troubled, trace=trace)

    def _write(self, value: SourceFile | Session) -> bytes:
        line = encode_line(value)
        self._packer.add(line)
        return line
