"""The columns of the logs beside the features, and the file that describes them all."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass

import msgspec

from ci_eval.learning.features import FEATURES, KIND_NAMES, KINDS, Feature
from ci_eval.learning.features import SCHEMA as FEATURE_SCHEMA
from ci_eval.learning.logs.queries import LoggedSession
from ci_eval.model import EngineInfo


@dataclass(frozen=True, kw_only=True)
class LogOrigin:
    """Where sessions come from; the same for all of a file."""

    project: str
    file: str
    language: str
    engine: EngineInfo
    completion_type: str
    seed: int
    began: int
    """Milliseconds since 1970 at which the run began."""


COLUMNS = tuple(
    Feature(name=name, type=kind, range=values, meaning=meaning)
    for name, kind, values, meaning in (
        ("project", "text", "", "name of the project"),
        ("file", "text", "", "path below the project's root"),
        ("session", "text", "16 hexadecimal digits", "the session's stable id, as in the workspace"),
        ("query_number", "number", "0 and up", "place of the query in its session"),
        ("prefix", "text", "", "what was typed"),
        ("place", "number", "1 and up", "place in the list as shown"),
        ("text", "text", "", "what would be inserted"),
        ("candidate", "text", ", ".join(KIND_NAMES), "kind of the suggestion"),
        ("expected", "flag", "false, true", "whether it is what the file holds there"),
        ("selected", "flag", "false, true", "whether the user took it"),
        (
            "outcome",
            "text",
            "selected, cancelled, typed",
            "what the user did after this query: took it, gave up, typed on",
        ),
    )
)

SCHEMA = hashlib.blake2b(msgspec.json.encode([COLUMNS, FEATURES]), digest_size=8).hexdigest()


def described() -> bytes:
    """`schema.json`: each column's name, type, range and meaning, and the digests that tell schemas apart."""
    schema = {
        "schema": SCHEMA,
        "features": FEATURE_SCHEMA,
        "columns": [*COLUMNS, *FEATURES],
    }
    return msgspec.json.format(msgspec.json.encode(schema), indent=2) + b"\n"


def columns_of(logged: LoggedSession, origin: LogOrigin) -> Iterator[dict[str, list[object]]]:
    """Query by query, the values of COLUMNS, an element per suggestion."""
    for number, query in enumerate(logged.queries):
        size = len(query.suggestions)
        expected = [place == query.rank for place in range(1, size + 1)]
        yield {
            "project": [origin.project] * size,
            "file": [origin.file] * size,
            "session": [logged.session.id] * size,
            "query_number": [number] * size,
            "prefix": [query.prefix] * size,
            "place": list(range(1, size + 1)),
            "text": [each.text for each in query.suggestions],
            "candidate": [KIND_NAMES[KINDS.get(each.kind.lower(), 0)] for each in query.suggestions],
            "expected": list(expected),
            "selected": [is_it and query.selected for is_it in expected],
            "outcome": [logged.outcome(number)] * size,
        }
