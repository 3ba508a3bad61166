"""What a CI can be told; without one, nothing."""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, TextIO

Level = Literal["notice", "warning", "error"]


@dataclass(frozen=True, kw_only=True)
class Problem:
    """Why a job fails, under a name that stays the same from run to run."""

    identity: str
    text: str


@dataclass(frozen=True, kw_only=True)
class Check:
    """A gate as a test."""

    name: str
    passed: bool
    reason: str


@dataclass(frozen=True, kw_only=True)
class Announcement:
    """What a job found, for the CI to keep and to show."""

    status: str
    """One line."""
    summary: str = ""
    """Markdown, the most important first."""
    outputs: Mapping[str, str] = field(default_factory=dict)
    """For later steps: `workspace`, `report`, `metrics`, `verdict`."""
    statistics: Mapping[str, float] = field(default_factory=dict)
    checks: Sequence[Check] = ()
    problems: Sequence[Problem] = ()
    artifacts: Sequence[Path] = ()
    """Folders worth keeping; nothing is written to them any more."""


class Host:
    """No CI. The others override what they know."""

    name = "none"
    wide = False
    """Whether progress goes to the CI as well."""

    def __init__(self, out: TextIO) -> None:
        self._out = out

    @property
    def run(self) -> str:
        """Address of the page of this run; empty where it is not known."""
        return ""

    @property
    def pull_request(self) -> str:
        """The number of the pull request that the job is about; empty where it is about none."""
        return ""

    def harmless(self, line: str) -> str:
        """A line of output that is no command to the CI, whoever wrote it."""
        return line

    def begin(self, title: str) -> None:
        """What follows belongs together."""

    def end(self, title: str) -> None:
        """The end of it."""

    def annotate(self, level: Level, text: str) -> None:
        """Something to be seen beside the log."""

    def progress(self, text: str) -> None:
        """How far it is."""

    def fail(self, problem: Problem) -> None:
        """Why the command ends."""

    def announce(self, found: Announcement) -> None:
        """The result."""

    def _say(self, line: str) -> None:
        self._out.write(f"{line}\n")
        self._out.flush()


class Guarded(io.TextIOBase):
    """A stream to which only harmless lines are written; a line is passed on when it is whole."""

    _BREAK = re.compile(r"(\r\n|\r|\n)")

    def __init__(self, stream: TextIO, harmless: Callable[[str], str]) -> None:
        self._stream = stream
        self._harmless = harmless
        self._held = ""

    def write(self, text: str) -> int:
        *parts, self._held = self._BREAK.split(self._held + text)
        for line, end in zip(parts[::2], parts[1::2], strict=True):
            self._stream.write(self._harmless(line) + end)
        return len(text)

    def flush(self) -> None:
        self._stream.flush()

    def close(self) -> None:
        """What is held goes out as well."""
        if self._held:
            self._stream.write(self._harmless(self._held))
            self._held = ""
        self._stream.flush()

    def isatty(self) -> bool:
        return False

    @property
    def encoding(self) -> str:  # type: ignore[override]
        return self._stream.encoding or "utf-8"
