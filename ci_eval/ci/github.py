"""The output for GitHub Actions: workflow commands, and the files that hold a step's outputs and summary."""

from __future__ import annotations

import os
import re
import uuid
from collections import Counter
from pathlib import Path
from typing import TextIO

from ci_eval.ci.host import Announcement, Host, Level, Problem

MOST_ANNOTATIONS = 10
"""Annotations of one level in one step. GitHub silently drops any more, so the last one says how many there are."""
MOST_SUMMARY = 1_000_000
"""Bytes of the longest summary. GitHub drops a summary entirely if it has more than 1,048,576."""
CUT = "\n\nThe rest is in the report.\n"
INVISIBLE = "\u200b"
"""A character of no width, put where a command would begin so that it is none."""


def data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def value(text: str) -> str:
    return data(text).replace(":", "%3A").replace(",", "%2C")


class GitHub(Host):
    name = "github"
    variable = "GITHUB_ACTIONS"

    def __init__(self, out: TextIO) -> None:
        super().__init__(out)
        self._said: Counter[str] = Counter()

    @property
    def run(self) -> str:
        known = [os.environ.get(f"GITHUB_{name}", "") for name in ("SERVER_URL", "REPOSITORY", "RUN_ID")]
        return "{}/{}/actions/runs/{}".format(*known) if all(known) else ""

    @property
    def pull_request(self) -> str:
        match = re.fullmatch(r"refs/pull/(\d+)/merge", os.environ.get("GITHUB_REF", ""))
        return match[1] if match else ""

    def harmless(self, line: str) -> str:
        """Return the line with workflow commands defused. The runner takes `::command::` at the beginning of a line for
        one, and the older `##[command]` anywhere."""
        blank = len(line) - len(line.lstrip())
        if line.startswith("::", blank):
            line = f"{line[:blank]}:{INVISIBLE}{line[blank + 1 :]}"
        return line.replace("##[", f"##{INVISIBLE}[")

    def begin(self, title: str) -> None:
        self._say(f"::group::{data(title)}")

    def end(self, title: str) -> None:  # noqa: ARG002
        self._say("::endgroup::")

    def annotate(self, level: Level, text: str) -> None:
        self._annotate(level, "ci-eval", text)

    def fail(self, problem: Problem) -> None:
        self._annotate("error", "ci-eval", problem.text)

    def _annotate(self, level: Level, title: str, text: str) -> None:
        self._said[level] += 1
        if self._said[level] < MOST_ANNOTATIONS:
            self._say(f"::{level} title={value(title)}::{data(text)}")
        elif self._said[level] == MOST_ANNOTATIONS:
            self._say(f"::{level} title=ci-eval::there are more, see the log and the report")

    def announce(self, announcement: Announcement) -> None:
        for problem in announcement.problems:
            self.fail(problem)
        # The delimiter is random, so that no text can contain it.
        end = f"ci-eval-{uuid.uuid4()}"
        outputs = [f"{name}<<{end}\n{text}\n{end}\n" for name, text in announcement.outputs.items()]
        _append("GITHUB_OUTPUT", "".join(outputs))
        _append("GITHUB_STEP_SUMMARY", shorten_text(announcement.summary, MOST_SUMMARY))


def shorten_text(text: str, most: int) -> str:
    """Return the beginning of the text, at most `most` bytes, cut between two lines."""
    if len(text.encode("utf-8", "replace")) <= most:
        return text
    kept, size = [], len(CUT)
    for line in text.splitlines(keepends=True):
        size += len(line.encode("utf-8", "replace"))
        if size > most:
            break
        kept.append(line)
    return "".join(kept) + CUT


def _append(variable: str, text: str) -> None:
    path = os.environ.get(variable)
    if path and text:
        with Path(path).open("a", encoding="utf-8", errors="replace", newline="\n") as file:
            file.write(text)
