"""The formats of logs (each module in `plugins/log_formats/` defines a `FORMAT`), their columns, and the manifest."""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Protocol

import msgspec
import numpy as np
from numpy.typing import NDArray

from ci_eval.core.base import atomic, stored
from ci_eval.core.base.catalog import Catalog
from ci_eval.core.base.errors import WorkspaceError
from ci_eval.core.logs.features import FEATURES, KIND_NAMES, KINDS, Feature
from ci_eval.core.logs.features import SCHEMA as FEATURE_SCHEMA
from ci_eval.core.model import EngineInfo, LogFile, LogsRecord, Session, Suggestion
from ci_eval.core.text_spans import Lines


def read_logs_record(folder: Path) -> LogsRecord | None:
    path = folder / "manifest.json"
    if not path.is_file():
        return None
    try:
        record = stored.decode_json(stored.read(path, stored.MANIFEST), LogsRecord, path)
    except WorkspaceError as error:
        raise WorkspaceError(f"{path} is not a manifest of logs: {error}") from error
    check(record, folder)
    return record


def check(record: LogsRecord, folder: Path) -> None:
    """Raise WorkspaceError if the manifest names a file outside of the folder."""
    try:
        for file in record.files:
            stored.inside(file.path)
    except ValueError as error:
        raise WorkspaceError(f"{folder}: the manifest of its logs is damaged: {error}") from error


def verify(folder: Path, record: LogsRecord) -> None:
    for file in record.files:
        path = folder / file.path
        if not path.is_file() or digest(path, folder) != file:
            raise WorkspaceError(f"{path} has changed since it was logged: fetch the logs again")


def digest(path: Path, folder: Path) -> LogFile:
    name, sha256 = path.relative_to(folder).as_posix(), stored.hash_file(path).hex()
    return LogFile(path=name, size=path.stat().st_size, sha256=sha256)


class Logged(msgspec.Struct, frozen=True, kw_only=True):
    prefix: str
    suggestions: Sequence[Suggestion]
    features: NDArray[np.float32]
    rank: int | None
    selected: bool
    latency: float


class LoggedSession(msgspec.Struct, frozen=True, kw_only=True):
    session: Session
    queries: Sequence[Logged]
    cancelled: bool

    @property
    def selected(self) -> bool:
        return any(query.selected for query in self.queries)

    def outcome(self, number: int) -> str:
        """Return the outcome of a query: `selected`, `cancelled`, or `typed` (the user went on typing)."""
        if self.queries[number].selected:
            return "selected"
        return "cancelled" if self.cancelled and number == len(self.queries) - 1 else "typed"


TRAIN, VALIDATION, TEST = SIDES = ("train", "validation", "test")


class LogPart(Protocol):
    def add(self, logged: LoggedSession) -> None: ...

    def close(self) -> None:
        """Complete the file, and rename it to its final name."""


class LogRun(msgspec.Struct, frozen=True, kw_only=True):
    project: str
    language: str
    seed: int
    day: str
    """The day on which the run began, as dd_MM_yyyy."""
    formats: tuple[str, ...] = ("parquet",)
    split_by: str = "file"
    percent: int = 70
    test_percent: int = 0


class LogFormat(msgspec.Struct, frozen=True, kw_only=True):
    summary: str
    end: str
    """The suffix of the files of parts and, if there is no `gather`, of `train`, `validation` and `test`."""
    write: Callable[[Path, LogOrigin], LogPart]
    join: Callable[[Sequence[Path], Path], None]
    """A function that joins several parts, or the same file of several runs, in order."""
    files: str = ""
    """The pattern (fnmatch) of this format's files in a folder of logs. If empty, all files that end in `end` match."""
    gather: Callable[[Mapping[str, Sequence[Path]], Path, LogRun], None] | None = None
    """A function that writes all files: side → parts, the folder, the run. If None, one file per side is written."""
    check: Callable[[], object] = tuple
    """A function that raises ConfigError if a required package is not installed."""


CATALOG: Catalog[LogFormat] = Catalog("ci_eval.plugins.log_formats", "FORMAT")
names = CATALOG.names


class LogOrigin(msgspec.Struct, frozen=True, kw_only=True):
    project: str
    file: str
    language: str
    engine: EngineInfo
    completion_type: str
    seed: int
    began: int
    """The time at which the run began, in milliseconds since 1970."""
    text: str = ""
    lines: Lines = msgspec.field(default_factory=lambda: Lines(""))
    context: int = 0


def join_bytes(parts: Sequence[Path], target: Path, empty: bytes = b"") -> None:
    with atomic.replacing(target) as partial, partial.open("wb") as whole:
        if not parts:
            whole.write(empty)
        for part in parts:
            with part.open("rb") as file:
                shutil.copyfileobj(file, whole)


# A `word` is a text that many rows share, and is stored as a dictionary in Parquet. An `id` is an integer of 63 bits.
COLUMNS = tuple(
    Feature(name=name, type=kind, range=values, meaning=meaning)
    for name, kind, values, meaning in (
        ("project", "word", "", "name of the project"),
        ("file", "word", "", "path below the project's root"),
        ("offset", "number", "0 and up", "characters of the file before the token"),
        ("line", "number", "1 and up", "line of the file in which the token begins"),
        ("session", "text", "16 hexadecimal digits", "the session's stable id, as in the workspace"),
        ("query_number", "number", "0 and up", "place of the query in its session"),
        (
            "group",
            "id",
            "0 and up",
            "the same number in all rows of a query, and in no others: a digest of the two before",
        ),
        ("prefix", "word", "", "what was typed"),
        ("before", "word", "", "the end of the code before the token, as far as interpret.logContext says"),
        ("after", "word", "", "the beginning of the code behind it"),
        ("place", "number", "1 and up", "place in the list as shown"),
        ("text", "word", "", "what would be inserted"),
        ("candidate", "word", ", ".join(KIND_NAMES), "kind of the suggestion"),
        ("expected", "flag", "false, true", "whether it is what the file holds there"),
        ("selected", "flag", "false, true", "whether the user took it"),
        (
            "outcome",
            "word",
            "selected, cancelled, typed",
            "what the user did after this query: took it, gave up, typed on",
        ),
    )
)

SCHEMA = hashlib.blake2b(msgspec.json.encode([COLUMNS, FEATURES]), digest_size=8).hexdigest()


DESCRIPTION = {"schema": SCHEMA, "features": FEATURE_SCHEMA, "columns": [*COLUMNS, *FEATURES]}


def make_group_id(session: str, query: int) -> int:
    # The chance that any two of a million queries have the same number is one in ten million.
    # Parquet stores signed integers, so one bit is dropped.
    return int.from_bytes(hashlib.blake2b(f"{session} {query}".encode(), digest_size=8).digest(), "big") >> 1


def build_columns(logged: LoggedSession, origin: LogOrigin) -> Iterator[dict[str, list[object]]]:
    """Yield the values of COLUMNS for each query, with one element per suggestion."""
    session, text = logged.session, origin.text
    begin, end = session.offset, session.offset + len(session.expected_text)
    before, after = text[max(begin - origin.context, 0) : begin], text[end : end + origin.context]
    for number, query in enumerate(logged.queries):
        size = len(query.suggestions)
        expected = [place == query.rank for place in range(1, size + 1)]
        yield {
            "project": [origin.project] * size,
            "file": [origin.file] * size,
            "offset": [session.offset] * size,
            "line": [origin.lines.place(session.offset)[0]] * size,
            "session": [session.id] * size,
            "query_number": [number] * size,
            "group": [make_group_id(session.id, number)] * size,
            "prefix": [query.prefix] * size,
            "before": [before] * size,
            "after": [after] * size,
            "place": list(range(1, size + 1)),
            "text": [suggestion.text for suggestion in query.suggestions],
            "candidate": [KIND_NAMES[KINDS.get(suggestion.kind.lower(), 0)] for suggestion in query.suggestions],
            "expected": list(expected),
            "selected": [is_it and query.selected for is_it in expected],
            "outcome": [logged.outcome(number)] * size,
        }
