"""A process that works for long and reports its progress: its lines, a watchdog, and the reason for its failure."""

from __future__ import annotations

import os
import re
import selectors
import subprocess
import time
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass

from ci_eval.core.base.errors import EngineCrash, EngineFailure, EngineTimeout
from ci_eval.plugins.adapters.process import ENDING, EngineProcess

PROGRESS = re.compile(r"(?P<title>[^:\r\n]{1,80}):\s*(?P<percent>\d{1,3})% \[=*>? *\] ?(?P<text>.*)")
"""A line as the plugin's `CommandLineProgress` prints it: title, percent, a bar of twenty characters, text."""
LAST = 40
"""Lines that are remembered, for the error."""
LONGEST = 1 << 20


@dataclass(frozen=True)
class Progress:
    """The progress that the IDE reports."""

    title: str
    percent: int
    text: str


def parse_progress(line: str) -> Progress | None:
    """Return the progress that a line reports, or None if the line reports something else."""
    match = PROGRESS.match(line.strip("\r\n"))
    return Progress(match["title"].strip(), min(int(match["percent"]), 100), match["text"]) if match else None


class WatchedProcess(EngineProcess):
    """A program that is not asked anything, and writes lines."""

    def lines(self, idle: float) -> Iterator[str]:
        """Yield the program's output line by line, until the program closes its output. Raises EngineTimeout after
        `idle` seconds without output."""
        self.said: deque[str] = deque(maxlen=LAST)
        partial = b""
        while True:
            try:
                self._await(self._stdout, selectors.EVENT_READ, time.monotonic() + idle)
            except EngineTimeout:
                raise EngineTimeout(
                    f"the IDE said nothing for {idle:g} seconds and was ended; its last words: {self._recent_lines()}. "
                    "If it was at work, raise engine.options.idle"
                ) from None
            chunk = os.read(self._stdout, 1 << 16)
            # A bar of progress ends with a carriage return, not with a new line. A line without an end is cut to
            # LONGEST.
            *whole, partial = re.split(rb"[\r\n]+", (partial + chunk)[-LONGEST:])
            for line in (*whole, *([partial] if not chunk else [])):
                if line.strip():
                    self.said.append(line.decode(errors="replace"))
                    yield self.said[-1]
            if not chunk:
                return

    def ended(self) -> int:
        """Return the exit code. Raises EngineTimeout if the program has closed its output and goes on."""
        try:
            code = self._process.wait(timeout=ENDING)
        except subprocess.TimeoutExpired:
            raise EngineTimeout("the IDE closed its output and did not end") from None
        # Its last words may still be on their way to us.
        self._listener.join(timeout=ENDING)
        return code

    def _recent_lines(self) -> str:
        return " | ".join([*self.said][-3:]) or "none"

    def trouble(self, code: int) -> EngineFailure:
        """Return the error for that exit code, with the reason and advice if they are known."""
        words = [*self.said, *self.last_words()]
        shown = "\n".join(words[-10:])
        for pattern, advice in REASONS:
            if any(pattern.search(line) for line in words):
                return EngineCrash(f"the IDE ended with exit code {code}: {advice}\n{shown}")
        return EngineCrash(f"the IDE ended with exit code {code}\n{shown}")


def _reason(pattern: str, advice: str) -> tuple[re.Pattern[str], str]:
    return re.compile(pattern, re.IGNORECASE), advice


REASONS = (
    _reason(
        r"Project SDK not found|Java SDK not configured|JDK .*(not found|not configured)|no (project )?SDK",
        "the project has no SDK; name a JDK's folder as engine.options.java, or configure the project in the IDE once",
    ),
    _reason(
        r"licen[cs]e",
        "it asks for a licence; activate it on this machine, or take a community edition",
    ),
    _reason(
        r"(cannot find|unknown|no) (application )?(starter|command)|(evaluate-completion|ml-evaluate).*not found",
        "it does not know the plugin's command; give the evaluation plugin of its build as engine.options.plugin",
    ),
    _reason(
        r"Error for loading config|Existing keys|Unexpected type in config|Config file .* (created|not found)",
        "it does not understand the configuration; engine.options.generation must be that of the plugin",
    ),
    _reason(r"Project could not be loaded|is not a project", "it could not load the project"),
    _reason(r"No files for .* found", "it found no file of the language below actions.evaluationRoots"),
    _reason(r"OutOfMemoryError", "it ran out of memory; raise interpret.memoryLimit"),
    _reason(r"Only one instance|already running", "another IDE runs with the same folders; end it first"),
)
"""The pattern of a line that the plugin or the platform prints → what the line means. The texts of the plugin are those
of its source; those of licences and of the platform are not verified against an IDE."""
