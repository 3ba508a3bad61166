"""What a format of logs must provide."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from ci_eval.learning.logs.columns import LogOrigin
from ci_eval.learning.logs.queries import LoggedSession

TRAIN, VALIDATION, TEST = SIDES = ("train", "validation", "test")


class LogPart(Protocol):
    """The log of one source file, while it is played."""

    def add(self, logged: LoggedSession) -> None:
        """Write the queries of one session."""

    def close(self) -> None:
        """Only then is a file of the part's name there, and complete."""


@dataclass(frozen=True, kw_only=True)
class LogRun:
    """What is the same for all logs of a run."""

    project: str
    language: str
    seed: int
    day: str
    """On which it began, as dd_MM_yyyy."""


@dataclass(frozen=True, kw_only=True)
class LogFormat:
    """One format."""

    summary: str
    """One line for `ci-eval list log-formats`."""
    end: str
    """How the name of a part ends; where there is no `gather`, that of `train`, `validation` and `test` as well."""
    write: Callable[[Path, LogOrigin], LogPart]
    """The file to write → a part."""
    join: Callable[[Sequence[Path], Path], None]
    """Parts, or the same file of several runs → one file, in their order."""
    files: str = ""
    """Which files of a folder of logs are of this format (fnmatch); "" = those that end in `end`."""
    gather: Callable[[Mapping[str, Sequence[Path]], Path, LogRun], None] | None = None
    """Side → its parts; folder: writes all files of this format; None = a file for each side, joined."""
    check: Callable[[], object] = tuple
    """Raises ConfigError where something that it needs is not installed."""
