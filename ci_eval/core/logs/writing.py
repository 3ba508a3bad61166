"""The log of one source file, while it is played: one part per format, put together later by `gather`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import msgspec

from ci_eval.core.base import atomic
from ci_eval.core.logs import formats as log_formats
from ci_eval.core.logs.columns import LogOrigin
from ci_eval.core.logs.features import KIND_NAMES, KINDS
from ci_eval.core.logs.queries import LoggedSession
from ci_eval.core.model import Value


class KindCounts(Value, frozen=True, kw_only=True):
    """The counts of one kind of candidate."""

    rows: int = 0
    expected: int = 0


class PartCounts(Value, frozen=True, kw_only=True):
    """The counts of a part of logs."""

    file: str
    sessions: int = 0
    selected: int = 0
    """Number of sessions in which the expected text was taken."""
    queries: int = 0
    rows: int = 0
    expected: int = 0
    """Number of rows that hold the expected text."""
    kinds: dict[str, KindCounts] = {}


class Log:
    """A writer of the sessions of one file to `folder`, in each of the formats."""

    def __init__(self, folder: Path, name: str, origin: LogOrigin, formats: Sequence[str]) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._counts = folder / f"{name}.counts.json"
        self._file = origin.file
        self._tally: Counter[str] = Counter()
        self._rows: Counter[str] = Counter()
        self._expected: Counter[str] = Counter()
        loaded_formats = map(log_formats.CATALOG.load, formats)
        self._parts = [form.write(folder / f"{name}{form.end}", origin) for form in loaded_formats]

    def add(self, logged: LoggedSession) -> None:
        """Add the queries of one session."""
        for part in self._parts:
            part.add(logged)
        self._tally["sessions"] += 1
        self._tally["selected"] += logged.selected
        for query in logged.queries:
            self._tally["queries"] += 1
            kinds = [KIND_NAMES[KINDS.get(suggestion.kind.lower(), 0)] for suggestion in query.suggestions]
            self._rows.update(kinds)
            if query.rank:
                self._expected[kinds[query.rank - 1]] += 1

    def close(self) -> None:
        """Complete the files, and write their counts."""
        for part in self._parts:
            part.close()
        counts = PartCounts(
            file=self._file,
            sessions=self._tally["sessions"],
            selected=self._tally["selected"],
            queries=self._tally["queries"],
            rows=self._rows.total(),
            expected=self._expected.total(),
            kinds={kind: KindCounts(rows=n, expected=self._expected[kind]) for kind, n in sorted(self._rows.items())},
        )
        # The counts come last: without them, the files are no part.
        atomic.write(self._counts, msgspec.json.encode(counts))
