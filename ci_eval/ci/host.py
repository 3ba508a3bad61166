"""The interface of a CI. The one without a CI does nothing."""

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
    """A reason why a job fails, with an identity that stays the same from run to run."""

    identity: str
    text: str


@dataclass(frozen=True, kw_only=True)
class Check:
    """A gate, reported as a test."""

    name: str
    passed: bool
    reason: str


@dataclass(frozen=True, kw_only=True)
class Announcement:
    """The result of a job, for the CI to keep and to show."""

    status: str
    summary: str = ""
    outputs: Mapping[str, str] = field(default_factory=dict)
    """Outputs for later steps, by name: `workspace`, `report`, `metrics`, `verdict`."""
    statistics: Mapping[str, float] = field(default_factory=dict)
    checks: Sequence[Check] = ()
    problems: Sequence[Problem] = ()
    artifacts: Sequence[Path] = ()
    """Folders or files to keep as artifacts; nothing is written to them any more."""


class Host:
    name = "none"
    variable = ""
    """The environment variable that the CI sets in its jobs."""
    wide = False
    """True if progress is reported to the CI as well."""

    def __init__(self, out: TextIO) -> None:
        self._out = out

    @property
    def run(self) -> str:
        """Return the address of this run's page, or an empty string if it is not known."""
        return ""

    @property
    def pull_request(self) -> str:
        """Return the number of the pull request that the job is about; "" if it is about none."""
        return ""

    def harmless(self, line: str) -> str:
        """Return the line, changed so that the CI does not take any part of it for a command, whoever wrote it."""
        return line

    def begin(self, title: str) -> None:
        """Begin a group of lines in the log."""

    def end(self, title: str) -> None:
        """End the group of lines that is open."""

    def annotate(self, level: Level, text: str) -> None:
        """Show a message beside the log."""

    def progress(self, text: str) -> None:
        """Report how far the job is."""

    def fail(self, problem: Problem) -> None:
        """Report why the command ends."""

    def announce(self, announcement: Announcement) -> None:
        """Report the result of the job."""

    def _say(self, line: str) -> None:
        self._out.write(f"{line}\n")
        self._out.flush()


class Guarded(io.TextIOBase):
    """A stream that makes each line harmless before passing it on; a line is passed on once it is complete."""

    _BREAK = re.compile(r"(\r\n|\r|\n)")

    def __init__(self, stream: TextIO, harmless: Callable[[str], str]) -> None:
        self._stream = stream
        self._harmless = harmless
        self._held = ""

    def write(self, text: str) -> int:
        # A command may arrive in pieces, so a line is looked at only when it is complete.
        *parts, self._held = self._BREAK.split(self._held + text)
        for line, end in zip(parts[::2], parts[1::2], strict=True):
            self._stream.write(self._harmless(line) + end)
        return len(text)

    def flush(self) -> None:
        self._stream.flush()

    def close(self) -> None:
        """Pass on the last line too, complete or not."""
        if self._held:
            self._stream.write(self._harmless(self._held))
            self._held = ""
        self._stream.flush()

    def isatty(self) -> bool:
        return False

    @property
    def encoding(self) -> str:  # type: ignore[override]
        return self._stream.encoding or "utf-8"
