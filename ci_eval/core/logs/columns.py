"""The columns of the logs beside the features, and the file that describes them all."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass, field

import msgspec

from ci_eval.core.logs.features import FEATURES, KIND_NAMES, KINDS, Feature
from ci_eval.core.logs.features import SCHEMA as FEATURE_SCHEMA
from ci_eval.core.logs.queries import LoggedSession
from ci_eval.core.model import EngineInfo
from ci_eval.core.text_spans import Lines


@dataclass(frozen=True, kw_only=True)
class LogOrigin:
    """The origin of sessions, which is the same for all of a file."""

    project: str
    file: str
    language: str
    engine: EngineInfo
    completion_type: str
    seed: int
    began: int
    """Milliseconds since 1970 at which the run began."""
    text: str = ""
    """Text of the file, as it is on disk."""
    lines: Lines = field(default_factory=lambda: Lines(""))
    context: int = 0
    """Characters of the text on each side of the token that are logged."""


# word: a text that many rows share, a dictionary in tables. id: a whole number of 63 bits.
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


def describe_columns() -> bytes:
    """Return `schema.json`: each column's name, type, range and meaning, and the digests of both schemas."""
    schema = {
        "schema": SCHEMA,
        "features": FEATURE_SCHEMA,
        "columns": [*COLUMNS, *FEATURES],
    }
    return msgspec.json.format(msgspec.json.encode(schema), indent=2) + b"\n"


def make_group_id(session: str, query: int) -> int:
    """Return the number of a query, from its session and its position there."""
    # In a million queries, two share a number with a chance of one in ten million.
    # Tables hold numbers with a sign, so one bit goes.
    return int.from_bytes(hashlib.blake2b(f"{session} {query}".encode(), digest_size=8).digest(), "big") >> 1


def build_columns(logged: LoggedSession, origin: LogOrigin) -> Iterator[dict[str, list[object]]]:
    """Yield for each query the values of COLUMNS, an element per suggestion."""
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
