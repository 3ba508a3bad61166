"""The storage of a file's sessions while they are evaluated."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from statistics import median
from types import MappingProxyType

import msgspec
from msgspec.structs import replace

from ci_eval.core.base import stored
from ci_eval.core.model.engine import Determinism
from ci_eval.core.model.sessions import UNASKED, FileError, Lookup, LookupScore, Otherwise, Session, SourceFile, Status
from ci_eval.core.model.tokens import pick
from ci_eval.core.workspace import Workspace, make_file_name


def read_journal(path: Path) -> Iterator[bytes]:
    if path.exists():
        with path.open("rb") as file:
            # A line without a line end was being written when the worker was killed.
            yield from (line for line in file if line.endswith(b"\n"))


class Journal:
    def __init__(self, path: Path) -> None:
        whole = sum(map(len, read_journal(path)))
        self._file = path.open("ab")
        # A killed worker may have left half a line, to which the next line would be added.
        self._file.truncate(whole)

    def add(self, line: bytes) -> None:
        self._file.write(line)
        # Data in the kernel's buffers survive the end of the process. A journal need not survive a power failure.
        self._file.flush()

    def close(self) -> None:
        self._file.close()


class SessionEnd(msgspec.Struct):
    status: Status
    id: str = ""
    message: str = ""
    rounds: int = 1
    again: int = 0
    differing: int = 0


def measure_determinism(session: Session | SessionEnd) -> Determinism:
    """Return, as counts of 0 or 1, whether the session was asked again and whether an answer differed."""
    asked = session.status not in UNASKED and (session.rounds > 1 or session.again > 0)
    return Determinism(asked=int(asked), differed=int(asked and session.differing > 0))


def encode_line(value: SourceFile | Session) -> bytes:
    return msgspec.json.encode(value) + b"\n"


class Pack:
    """A packer that takes the sessions of a file one by one, since all of them may not fit into memory."""

    def __init__(self, source: SourceFile) -> None:
        self.statuses: Counter[Status] = Counter()
        self.state = Determinism()
        self._packer = stored.Packer()
        self._path = source.path
        self._packer.add(encode_line(source))
        self._first_trouble = ""
        self._troubled = 0

    def add(self, session: Session) -> None:
        self._packer.add(encode_line(session))
        self._count(session)

    def take_over(self, line: bytes, instead: Mapping[str, Session] = MappingProxyType({})) -> SessionEnd:
        """Append a session as its stored line. If `instead` has a session with the same id, append that session."""
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
        return self._packer.close()

    @property
    def trouble(self) -> FileError | None:
        """Return an error that describes the first skipped or failed session; None if every session was asked."""
        if not self._troubled:
            return None
        first, _, trace = self._first_trouble.partition("\n")
        message = f"{self._troubled} session{'s' if self._troubled > 1 else ''}: {first}"
        return FileError(path=self._path, stage="interpret", message=message, sessions=self._troubled, trace=trace)


def round_file(workspace: Workspace, path: str, number: int) -> Path:
    """Return the path at which the sessions of a round are stored until all rounds of the source file are done."""
    return workspace.folder / "rounds" / f"{make_file_name(path)}.{number}.jsonl.zst"


def read_round(file: Path) -> tuple[SourceFile, Iterator[Session]]:
    """Return the source file and the sessions of a round. Raises WorkspaceError if the stored file is damaged."""
    lines = stored.lines(file)
    source = stored.decode_json(next(lines, b""), SourceFile, file)
    return source, (stored.decode_json(line, Session, file) for line in lines)


def together(rounds: Sequence[Iterable[Session]]) -> Iterator[Session]:
    """Yield each session with the suggestions of the first round and the latencies of all rounds."""
    for first, *others in zip(*rounds, strict=True):
        lookups = tuple(_merge_latencies(index, [first, *others]) for index in range(len(first.lookups)))
        differing = sum(observable_content(session) != observable_content(first) for session in others)
        otherwise = tuple(
            _otherwise(number, session)
            for number, session in enumerate(others, 1)
            if _observable_parts(session) != _observable_parts(first)
        )
        yield replace(first, lookups=lookups, rounds=len(rounds), differing=differing, otherwise=otherwise)


def add_second_result(first: Session, second: Session) -> Session:
    """Return the first session with the result of the second; unchanged if the second was not asked."""
    if second.status in UNASKED:
        return first
    moved = _observable_parts(second) != _observable_parts(first)
    return replace(
        first,
        again=1,
        differing=int(observable_content(second) != observable_content(first)),
        otherwise=(_otherwise(1, second),) if moved else (),
    )


def _otherwise(number: int, session: Session) -> Otherwise:
    lookups = tuple(LookupScore(**pick(lookup, *LookupScore.__struct_fields__)) for lookup in session.lookups)
    return Otherwise(round=number, status=session.status, lookups=lookups, courses=session.courses)


def observable_content(session: Session) -> object:
    """Return all parts of a session by which a user could distinguish two answers."""
    lists = [[(suggestion.text, suggestion.tail) for suggestion in lookup.suggestions] for lookup in session.lookups]
    return _observable_parts(session), lists


def _observable_parts(session: Session) -> object:
    return session.status, [
        (
            lookup.prefix,
            lookup.total,
            lookup.rank,
            lookup.offered,
            lookup.adds_import,
            lookup.selected,
            lookup.grades,
            lookup.duplicates,
            lookup.highlighted,
        )
        for lookup in session.lookups
    ]


def _merge_latencies(index: int, rounds: Sequence[Session]) -> Lookup:
    lookup = rounds[0].lookups[index]
    # A latency is None if that round failed earlier, or if other answers led the user to another prefix.
    latencies = tuple(
        session.lookups[index].latency
        if index < len(session.lookups) and session.lookups[index].prefix == lookup.prefix
        else None
        for session in rounds
    )
    known = [latency for latency in latencies if latency is not None]
    # The median is used, since one disturbed round of three must not count.
    return replace(lookup, latency=round(median(known), 3), latencies=latencies)
