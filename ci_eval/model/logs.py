"""An account of the logs for training rankers."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta

from ci_eval.model.tokens import Number, Value


class LogCounts(Value, frozen=True, kw_only=True):
    """How much there is on one side: for training, validation or the test."""

    files: Number
    """Source files."""
    sessions: Number
    selected: Number
    """Sessions in which the user took the expected text."""
    queries: Number
    """Lookups."""
    rows: Number
    """Suggestions shown."""
    expected: Number
    """Rows that are the expected text."""
    kinds: dict[str, tuple[Number, Number]]
    """Kind of candidate → number of rows, and of those that are the expected text."""


class LogFile(Value, frozen=True, kw_only=True):
    """One file of the logs."""

    path: str
    size: Annotated[int, Meta(ge=0)]
    sha256: str


class LogsRecord(Value, frozen=True, kw_only=True):
    """The manifest of `logs/`."""

    schema: str
    formats: tuple[str, ...]
    split_by: str
    seed: int
    percent: Number
    """Percent of the files or projects that are for training."""
    train: LogCounts
    validation: LogCounts
    test_percent: Number = 0
    """Percent that are for the last test."""
    test: LogCounts | None = None
    """None where nothing is kept for it."""
    files: tuple[LogFile, ...]

    @property
    def sides(self) -> dict[str, LogCounts]:
        """Name of each side → what is there."""
        kept = {} if self.test is None else {"test": self.test}
        return {"train": self.train, "validation": self.validation, **kept}
