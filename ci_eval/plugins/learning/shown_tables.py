"""The reader of Parquet logs as sessions of events."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ci_eval.core.logs.features import NAMES
from ci_eval.core.logs.gather import tables
from ci_eval.plugins.learning.events import Shown, ShownSession

COLUMNS = ("project", "session", "query_number", "place", "prefix", "text", "expected", "outcome")


def read_sessions(path: Path) -> Iterator[ShownSession]:
    """Yield the sessions of a Parquet file, one at a time. As in events, cancelled sessions have no wanted item."""
    held: list[dict[str, Any]] = []
    for row in _rows(path):
        if held and (row["project"], row["session"]) != (held[0]["project"], held[0]["session"]):
            yield _session(held)
            held = []
        held.append(row)
    if held:
        yield _session(held)


def _rows(path: Path) -> Iterator[dict[str, Any]]:
    for batch in tables().batches(path, [*COLUMNS, *NAMES]):
        yield from batch.to_pylist()


def _session(rows: list[dict[str, Any]]) -> ShownSession:
    lists: dict[int, list[dict[str, Any]]] = {}
    for row in rows:
        lists.setdefault(row["query_number"], []).append(row)
    numbers: dict[str, int] = {}
    lookups = [
        Shown(
            typed=len(shown[0]["prefix"]),
            ids=[numbers.setdefault(row["text"], len(numbers)) for row in shown],
            features=[{name: row[name] for name in NAMES} for row in shown],
        )
        for shown in lists.values()
    ]
    outcome = list(lists.values())[-1][0]["outcome"]
    expected = next((numbers[row["text"]] for row in rows if row["expected"]), None)
    return ShownSession(
        user=rows[0]["project"],
        session=rows[0]["session"],
        lookups=lookups,
        outcome=outcome,
        wanted=None if outcome == "cancelled" else expected,
    )
