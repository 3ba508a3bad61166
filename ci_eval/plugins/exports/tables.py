"""The three tables of a run: their columns, and their export to files (Parquet needs the extra `ml`)."""

from __future__ import annotations

import csv
import re
from collections.abc import Callable, Iterator, Mapping
from importlib import import_module
from itertools import islice
from pathlib import Path
from types import ModuleType
from typing import Literal, NamedTuple

import msgspec

from ci_eval.core.base import atomic
from ci_eval.core.base.errors import ConfigError
from ci_eval.core.model import Lookup, Session, Suggestion, Usage
from ci_eval.core.text_spans import Lines
from ci_eval.core.workspace import Workspace

Type = Literal["text", "word", "integer", "number", "flag", "numbers", "grades"]


class At(NamedTuple):
    """A row of a table: a session, one of its lookups, and one suggestion of this lookup."""

    session: Session
    line: int
    """The line in the file, from 1."""
    column: int
    """The number of characters before the token in its line."""
    number: int
    """The number of the lookup, from 0."""
    lookup: Lookup
    place: int
    """The rank of the suggestion, from 1."""
    suggestion: Suggestion


class Column(msgspec.Struct, frozen=True):
    name: str
    type: Type
    get: Callable[[At], object]
    meaning: str


def _property(name: str, kind: Type, meaning: str) -> Column:
    return Column(name, kind, lambda at: getattr(at.session.properties, name), meaning)


def _usage(name: str, kind: Type, meaning: str) -> Column:
    return Column(name, kind, lambda at: getattr(at.lookup.usage or _NONE, name), f"of a language model: {meaning}")


_NONE = Usage()

PLACE = (
    Column("session", "text", lambda at: at.session.id, "the session's id, the same in every run over the same code"),
    Column("file", "word", lambda at: at.session.file, "path below the project's root"),
    Column("offset", "integer", lambda at: at.session.offset, "characters of the file before the token"),
    Column("line", "integer", lambda at: at.line, "line of the file, from 1"),
    Column("column", "integer", lambda at: at.column, "characters before the token in its line"),
    Column("expected", "word", lambda at: at.session.expected_text, "what the file has there"),
    Column("kind", "word", lambda at: at.session.properties.kind.value, "kind of the token"),
    Column("status", "word", lambda at: at.session.status.value, "how the session ended"),
)
"""The columns that identify a session; they come first in the tables of sessions and lookups."""

SESSIONS = (
    *PLACE,
    Column("message", "text", lambda at: at.session.message, "why the session failed or was skipped; else empty"),
    Column("typed", "integer", lambda at: at.session.typed, "letters typed at the first lookup"),
    Column("lookups", "integer", lambda at: len(at.session.lookups), "number of lookups"),
    Column("rounds", "integer", lambda at: at.session.rounds, "how often the session was asked"),
    Column("differing", "integer", lambda at: at.session.differing, "later rounds that were answered otherwise"),
    Column("reused", "flag", lambda at: at.session.reused, "whether the answers are those of an earlier run"),
    _property("is_argument", "flag", "whether the token is an argument of a call; null: not known"),
    _property("is_static", "flag", "whether the declaration is static; null: not known"),
    _property("package", "word", "module, package or namespace of the declaration; null: not known"),
    _property("location", "word", "project or library: where the declaration is; null: not known"),
    _property("first_use", "flag", "whether the text occurs nowhere earlier in the file; null: not known"),
)

_LOOKUP = (
    Column("lookup", "integer", lambda at: at.number, "number of the lookup in its session, from 0"),
    Column("prefix", "text", lambda at: at.lookup.prefix, "what was typed"),
)

LOOKUPS = (
    *PLACE,
    *_LOOKUP,
    Column("total", "integer", lambda at: at.lookup.total, "number of suggestions shown"),
    Column("rank", "integer", lambda at: at.lookup.rank, "place of the expected text; null: it was not suggested"),
    Column("latency", "number", lambda at: at.lookup.latency, "milliseconds; of several rounds the median"),
    Column("latencies", "numbers", lambda at: at.lookup.latencies, "in each round, where there were several"),
    Column("cold", "flag", lambda at: at.lookup.cold, "whether the file had just been opened"),
    Column("selected", "flag", lambda at: at.lookup.selected, "whether the modelled user likeliest took the text"),
    Column("accepted", "integer", lambda at: at.lookup.accepted, "in golf: characters that a suggestion saved typing"),
    Column("grades", "grades", lambda at: at.lookup.grades, "grades of the first suggestion; null: nothing is graded"),
    _usage("prompt_tokens", "integer", "tokens of the question"),
    _usage("answer_tokens", "integer", "tokens of the answer"),
    _usage("first_token", "number", "milliseconds until the first token"),
    _usage("cost", "number", "by the prices in the configuration"),
    _usage("logprob", "number", "mean of ln(probability) over the answer's tokens"),
)

SUGGESTIONS = (
    PLACE[0],
    *_LOOKUP,
    Column("place", "integer", lambda at: at.place, "place in the list as shown, from 1"),
    Column("text", "text", lambda at: at.suggestion.text + at.suggestion.tail, "what would be inserted"),
    Column("candidate", "word", lambda at: at.suggestion.kind, "what the engine says the suggestion is"),
    Column("is_expected", "flag", lambda at: at.place == at.lookup.rank, "whether it is the expected text"),
    Column("engine_place", "integer", lambda at: at.suggestion.position or at.place, "place in the engine's own list"),
    Column("grades", "grades", lambda at: at.suggestion.grades, "name of the grade → value; null: not graded"),
)

TABLES: Mapping[str, tuple[Column, ...]] = {"sessions": SESSIONS, "lookups": LOOKUPS, "suggestions": SUGGESTIONS}


BATCH = 20_000
"""The number of rows that are in memory at once."""
NO_LOOKUP = Lookup(prefix="", total=0, rank=None, latency=0, suggestions=())
NO_SUGGESTION = Suggestion(text="")

Passes = Callable[[Session], bool]


def batches(workspace: Workspace, table: str, passes: Passes | None = None) -> Iterator[dict[str, list[object]]]:
    """Yield the values of each column, ordered by file, session, lookup and rank. Raises WorkspaceError."""
    rows = _rows(workspace, table, passes)
    while batch := list(islice(rows, BATCH)):
        yield {column.name: [column.get(row) for row in batch] for column in TABLES[table]}


def _rows(workspace: Workspace, table: str, passes: Passes | None) -> Iterator[At]:
    for file, sessions in workspace.sessions(Session):
        lines = Lines(file.text)
        for session in filter(passes, sessions):
            location = lines.place(session.offset)
            lookups = [(0, NO_LOOKUP)] if table == "sessions" else enumerate(session.lookups)
            for number, lookup in lookups:
                listed = enumerate(lookup.suggestions, 1) if table == "suggestions" else [(0, NO_SUGGESTION)]
                for rank, suggestion in listed:
                    yield At(session, *location, number, lookup, rank, suggestion)


FORMULA = re.compile("'*[=+\\-@\t\r\n\uff1d\uff0b\uff0d\uff20]")
"""Matches texts that spreadsheets would run as formulas, also after apostrophes (OWASP, CSV Injection)."""


def write(workspace: Workspace, folder: Path, form: str, passes: Passes | None = None) -> dict[Path, int]:
    """Write the tables. Return file → number of rows. Raises ConfigError if a package is missing, WorkspaceError if a
    file cannot be read or written."""
    written = {}
    for table in TABLES:
        path = folder / f"{table}.{form}"
        partial = path.with_name(f"{path.name}.tmp")
        with atomic.writing(path):
            if form == "parquet":
                written[path] = arrow().write(workspace, table, partial, passes)
            else:
                written[path] = _write_text(workspace, table, partial, form, passes)
            partial.replace(path)
    return written


def _write_text(workspace: Workspace, table: str, path: Path, form: str, passes: Passes | None) -> int:
    names, count = [column.name for column in TABLES[table]], 0
    rows = (row for batch in batches(workspace, table, passes) for row in zip(*batch.values(), strict=True))
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        if form == "csv":
            writer.writerow(names)
        for row in rows:
            count += 1
            if form == "csv":
                writer.writerow(map(_cell, row))
            else:
                file.write(msgspec.json.encode(dict(zip(names, row, strict=True))).decode() + "\n")
    return count


def _cell(value: object) -> object:
    """Return a value for CSV: null is empty, flags are true and false, lists and grades are JSON.

    A text that matches FORMULA gets an apostrophe in front. To restore a cell that matches, remove one apostrophe.
    """
    if isinstance(value, str) and FORMULA.match(value):
        return f"'{value}"
    if isinstance(value, bool | dict | tuple):
        return msgspec.json.encode(value).decode()
    return value


FORMATS = ("parquet", "jsonl", "csv")


def arrow() -> ModuleType:
    """Import the module that needs pyarrow. Raises ConfigError if it is not installed."""
    try:
        return import_module("ci_eval.plugins.exports.arrow")
    except ImportError as error:
        raise ConfigError(
            f"Arrow tables and Parquet need pyarrow ({error}): pip install pyarrow, or export as jsonl or csv"
        ) from error
