"""What was logged for training rankers."""

from __future__ import annotations

from ci_eval.model.tokens import Value


class LogCounts(Value, frozen=True, kw_only=True):
    """One side of the split."""

    files: int
    """Source files."""
    sessions: int
    selected: int
    """Sessions in which the user took the expected text."""
    queries: int
    rows: int
    """Suggestions shown."""
    expected: int
    """Rows that are the expected text."""
    kinds: dict[str, tuple[int, int]]
    """Kind of candidate → rows, and how many of them were expected."""


class LogFile(Value, frozen=True, kw_only=True):
    """One file of the logs."""

    path: str
    size: int
    sha256: str


class LogsRecord(Value, frozen=True, kw_only=True):
    """What lies in `logs/`."""

    schema: str
    formats: tuple[str, ...]
    split_by: str
    seed: int
    percent: int
    """Of the files or projects, for training."""
    train: LogCounts
    validation: LogCounts
    files: tuple[LogFile, ...]
