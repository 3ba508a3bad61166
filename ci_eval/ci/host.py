"""The CI that a job runs in: none, GitHub Actions or TeamCity.

GitHub gets workflow commands, and files with the outputs and the summary of a step. TeamCity gets service messages.
"""

from __future__ import annotations

import hashlib
import io
import math
import os
import re
import uuid
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Literal, TextIO

import msgspec

Level = Literal["notice", "warning", "error"]


class Check(msgspec.Struct, frozen=True, kw_only=True):
    name: str
    passed: bool
    reason: str


class Announcement(msgspec.Struct, frozen=True, kw_only=True):
    status: str
    summary: str = ""
    outputs: Mapping[str, str | Path | None] = msgspec.field(default_factory=dict)
    """The values for later steps, by name: `workspace`, `report`, `metrics`, `verdict`. None is the same as ""."""
    statistics: Mapping[str, float] = msgspec.field(default_factory=dict)
    checks: Sequence[Check] = ()
    artifacts: Sequence[Path] = ()
    """The folders or files to publish. They must not change any more."""


class Host:
    name = "none"
    variable = ""
    """The environment variable that the CI sets in its jobs."""

    def __init__(self, out: TextIO) -> None:
        self._out = out

    @property
    def run(self) -> str:
        """Return the address of the page of the CI run; "" if it is unknown."""
        return ""

    @property
    def pull_request(self) -> str:
        """Return the number of the pull request; "" if there is none."""
        return ""

    def harmless(self, line: str) -> str:
        """Return the line, changed so that the CI takes no part of it for a command, whoever wrote it."""
        return line

    def begin(self, title: str) -> None:
        """Begin a group of lines in the log."""

    def end(self, title: str) -> None:
        """End the open group of lines."""

    def annotate(self, level: Level, text: str) -> None:
        """Show a message outside of the log."""

    def progress(self, text: str) -> None:
        """Report the progress of the job."""

    def fail(self, identity: str, text: str) -> None:
        """Report a problem. `identity` names the kind of problem, and is the same in each run."""

    def announce(self, announcement: Announcement) -> None:
        """Report the result of the job, and each check that is not passed as a problem."""
        for check in announcement.checks:
            if not check.passed:
                self.fail(make_rule_identity(check.name), f"{check.name}: {check.reason}")

    def _say(self, line: str) -> None:
        self._out.write(f"{line}\n")
        self._out.flush()


def make_rule_identity(text: str) -> str:
    """Return an identity of letters, digits and `_` that is unique for each gate."""
    # The digest distinguishes rules that are equal after the replacement and the cut.
    digest = hashlib.blake2b(text.encode("utf-8", "replace"), digest_size=4).hexdigest()
    return f"gate_{re.sub(r'[^A-Za-z0-9]+', '_', text).strip('_')[:40]}_{digest}"


class Guarded(io.TextIOBase):
    """A stream that passes on only complete lines, and makes each harmless."""

    _BREAK = re.compile(r"(\r\n|\r|\n)")

    def __init__(self, stream: TextIO, harmless: Callable[[str], str]) -> None:
        self._stream = stream
        self._harmless = harmless
        self._held = ""

    def write(self, text: str) -> int:
        # A command may be written in pieces, so only complete lines are checked.
        *parts, self._held = self._BREAK.split(self._held + text)
        for line, end in zip(parts[::2], parts[1::2], strict=True):
            self._stream.write(self._harmless(line) + end)
        return len(text)

    def flush(self) -> None:
        self._stream.flush()

    def close(self) -> None:
        """Pass on the last line even if it is incomplete."""
        if self._held:
            self._stream.write(self._harmless(self._held))
            self._held = ""
        self._stream.flush()

    def isatty(self) -> bool:
        return False

    @property
    def encoding(self) -> str:  # type: ignore[override]
        return self._stream.encoding or "utf-8"


MOST_ANNOTATIONS = 10
"""The limit of annotations of one level in a step. GitHub drops others, so the last one says that there are more."""
MOST_SUMMARY = 1_000_000
"""The limit of a summary, in bytes. GitHub drops a summary of more than 1,048,576 bytes."""
CUT = "\n\nThe rest is in the report.\n"
INVISIBLE = "\u200b"
"""A character without width that keeps a line from being taken for a command."""


def data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


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
        """Defuse workflow commands: `::command::` at the beginning of a line, and the older `##[command]` anywhere."""
        blank = len(line) - len(line.lstrip())
        if line.startswith("::", blank):
            line = f"{line[:blank]}:{INVISIBLE}{line[blank + 1 :]}"
        return line.replace("##[", f"##{INVISIBLE}[")

    def begin(self, title: str) -> None:
        self._say(f"::group::{data(title)}")

    def end(self, title: str) -> None:  # noqa: ARG002
        self._say("::endgroup::")

    def fail(self, identity: str, text: str) -> None:  # noqa: ARG002
        self.annotate("error", text)

    def annotate(self, level: Level, text: str) -> None:
        self._said[level] += 1
        if self._said[level] < MOST_ANNOTATIONS:
            self._say(f"::{level} title=ci-eval::{data(text)}")
        elif self._said[level] == MOST_ANNOTATIONS:
            self._say(f"::{level} title=ci-eval::there are more messages: see the log and the report")

    def announce(self, announcement: Announcement) -> None:
        super().announce(announcement)
        # The delimiter is random, so that no text can contain it.
        end = f"ci-eval-{uuid.uuid4()}"
        # Paths are absolute, since later steps may run in another folder.
        texts = {
            name: value.absolute() if isinstance(value, Path) else value or ""
            for name, value in announcement.outputs.items()
        }
        outputs = [f"{name}<<{end}\n{text}\n{end}\n" for name, text in texts.items()]
        _append("GITHUB_OUTPUT", "".join(outputs))
        _append("GITHUB_STEP_SUMMARY", shorten_text(announcement.summary, MOST_SUMMARY))


def shorten_text(text: str, most: int) -> str:
    """Return the first lines of the text, at most `most` bytes, with a note if lines were cut."""
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


MOST_PROBLEM = 4000
"""The limit of a build problem's text, in characters."""
MOST_IDENTITY = 60
MOST_METADATA = 1024
"""The limit of a value in a test's metadata, in characters."""
BEYOND = 1e13
"""TeamCity stores a build's statistics with at most thirteen digits before the point and six after it."""
UNQUOTED = re.compile(r"[,*?%\r\n]|=>")
"""The characters that separate the parts of an artifact rule, or are wildcards in it."""
STATUS: dict[Level, str] = {"notice": "NORMAL", "warning": "WARNING", "error": "ERROR"}
_ESCAPES = {"|": "||", "'": "|'", "\n": "|n", "\r": "|r", "[": "|[", "]": "|]"}


def escape(text: str) -> str:
    """Escape a text for a service message. A character that is not ASCII becomes |0xNNNN, above U+FFFF two of these."""
    escaped = []
    for character in text:
        if character in _ESCAPES or " " <= character <= "~":
            escaped.append(_ESCAPES.get(character, character))
        else:
            units = character.encode("utf-16-be", "surrogatepass")
            escaped += [f"|0x{units[place : place + 2].hex()}" for place in range(0, len(units), 2)]
    return "".join(escaped)


def message(name: str, single: str | None = None, /, **values: str) -> str:
    if single is not None:
        return f"##teamcity[{name} '{escape(single)}']"
    attributes = " ".join(f"{key}='{escape(text)}'" for key, text in values.items())
    return f"##teamcity[{name} {attributes}]"


class TeamCity(Host):
    name = "teamcity"
    variable = "TEAMCITY_VERSION"

    def harmless(self, line: str) -> str:
        """Defuse service messages, which may begin anywhere in the line."""
        return line.replace("##teamcity[", f"##{INVISIBLE}teamcity[")

    def begin(self, title: str) -> None:
        self._say(message("blockOpened", name=title))

    def end(self, title: str) -> None:
        self._say(message("blockClosed", name=title))

    def annotate(self, level: Level, text: str) -> None:
        if level != "error":
            # A message of status ERROR would fail the build by itself. Failures are reported as build problems instead.
            self._say(message("message", text=text, status=STATUS[level]))

    def progress(self, text: str) -> None:
        self._say(message("progressMessage", text))

    def fail(self, identity: str, text: str) -> None:
        # TeamCity expects a Java identifier of at most 60 characters.
        identity = re.sub(r"\W", "_", identity, flags=re.ASCII)[:MOST_IDENTITY]
        self._say(message("buildProblem", description=text[:MOST_PROBLEM], identity=identity))

    def announce(self, announcement: Announcement) -> None:
        for key, number in announcement.statistics.items():
            if math.isfinite(number) and abs(number) < BEYOND:
                self._say(message("buildStatisticValue", key=f"ci_eval.{key}", value=f"{number:.6f}"))
        if announcement.checks:
            self._say(message("testSuiteStarted", name="ci-eval gates"))
            for check in announcement.checks:
                self._say(message("testStarted", name=check.name))
                reason = check.reason[:MOST_METADATA]
                self._say(message("testMetadata", testName=check.name, name="reason", value=reason))
                if not check.passed:
                    self._say(message("testFailed", name=check.name, message=check.reason))
                self._say(message("testFinished", name=check.name))
            self._say(message("testSuiteFinished", name="ci-eval gates"))
        super().announce(announcement)
        for path in announcement.artifacts:
            place = path.absolute()
            if UNQUOTED.search(str(place)):
                text = f"{place} is not published: TeamCity's artifact rules cannot express this name; rename it"
                self._say(message("message", text=text, status=STATUS["warning"]))
            else:
                # A folder is published as one archive, which replaces what artifact rules publish under the same name.
                rule = str(place) if place.is_file() else f"{place} => {place.name}.zip"
                self._say(message("publishArtifacts", rule))
        # TeamCity could read braces in the status as a reference such as {build.status.text}.
        self._say(message("buildStatus", text="{build.status.text}; " + announcement.status.replace("{", "(")))


HOSTS: tuple[type[Host], ...] = (TeamCity, GitHub)
