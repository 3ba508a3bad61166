"""An account of the logs for training rankers."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta

from ci_eval.core.model.tokens import Number, Value


class LogCounts(Value, frozen=True, kw_only=True):
    """The size of one side of the logs: for training, validation or the test."""

    files: Number
    """The number of source files."""
    sessions: Number
    selected: Number
    """The number of sessions in which the user took the expected text."""
    queries: Number
    """The number of lookups."""
    rows: Number
    """The number of displayed suggestions."""
    expected: Number
    """The number of rows that are the expected text."""
    kinds: dict[str, tuple[Number, Number]]
    """The number of rows, and of those that are the expected text, by kind of candidate."""


class LogFile(Value, frozen=True, kw_only=True):
    """A file of the logs, with its size and digest."""

    path: str
    size: Annotated[int, Meta(ge=0)]
    sha256: str


class LogsRecord(Value, frozen=True, kw_only=True):
    """The manifest of the folder `logs/`."""

    schema: str
    formats: tuple[str, ...]
    split_by: str
    seed: int
    percent: Number
    """The percent of the files or projects that are for training."""
    train: LogCounts
    validation: LogCounts
    test_percent: Number = 0
    """The percent that are for the last test."""
    test: LogCounts | None = None
    """The counts of the last test, or None if nothing is reserved for it."""
    files: tuple[LogFile, ...]

    @property
    def sides(self) -> dict[str, LogCounts]:
        """Return the counts of each side, by its name."""
        test_side = {} if self.test is None else {"test": self.test}
        return {"train": self.train, "validation": self.validation, **test_side}
