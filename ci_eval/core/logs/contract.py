"""The contract of a format of logs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from ci_eval.core.logs.columns import LogOrigin
from ci_eval.core.logs.queries import LoggedSession

TRAIN, VALIDATION, TEST = SIDES = ("train", "validation", "test")


class LogPart(Protocol):
    """The log of one source file, while it is played."""

    def add(self, logged: LoggedSession) -> None:
        """Write the queries of one session."""

    def close(self) -> None:
        """Complete the file, which appears under its name only now."""


@dataclass(frozen=True, kw_only=True)
class LogRun:
    """The facts that are the same for all logs of a run."""

    project: str
    language: str
    seed: int
    day: str
    """Day on which the run began, as dd_MM_yyyy."""


@dataclass(frozen=True, kw_only=True)
class LogFormat:
    """A format that logs are written in."""

    summary: str
    """Summary for `ci-eval list log-formats`, on one line."""
    end: str
    """Extension of a part, and of `train`, `validation` and `test` if there is no `gather`."""
    write: Callable[[Path, LogOrigin], LogPart]
    """The file to write → a part."""
    join: Callable[[Sequence[Path], Path], None]
    """Parts, or the same file of several runs → one file, in their order."""
    files: str = ""
    """Pattern (fnmatch) of the files of this format in a folder of logs; "" for those that end in `end`."""
    gather: Callable[[Mapping[str, Sequence[Path]], Path, LogRun], None] | None = None
    """Side → its parts; folder: writes all files of this format; None = a file for each side, joined."""
    check: Callable[[], object] = tuple
    """Raises ConfigError if a package that the format needs is not installed."""
