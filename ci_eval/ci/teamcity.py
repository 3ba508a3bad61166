"""The output for TeamCity: service messages."""

from __future__ import annotations

import math
import re
from pathlib import Path

from ci_eval.ci.host import Announcement, Host, Level, Problem

MOST_PROBLEM = 4000
"""Characters of the longest description of a build problem."""
MOST_IDENTITY = 60
MOST_METADATA = 1024
"""Characters of the longest value of a test's metadata."""
BEYOND = 1e13
"""TeamCity keeps numbers of a build with at most thirteen digits before the point and six behind it."""
UNQUOTED = re.compile(r"[,*?%\r\n]|=>")
"""Characters that separate the parts of an artifact rule, or are wildcards in it."""
INVISIBLE = "\u200b"
STATUS: dict[Level, str] = {"notice": "NORMAL", "warning": "WARNING", "error": "ERROR"}
_ESCAPES = {"|": "||", "'": "|'", "\n": "|n", "\r": "|r", "[": "|[", "]": "|]"}


def escape(text: str) -> str:
    """Return the text as a value of a service message. Characters other than ASCII become |0xNNNN, those above U+FFFF
    two of these."""
    return "".join(
        _ESCAPES.get(character) or (character if " " <= character <= "~" else _code_units(character))
        for character in text
    )


def _code_units(character: str) -> str:
    units = character.encode("utf-16-be", "surrogatepass")
    return "".join(f"|0x{units[place]:02x}{units[place + 1]:02x}" for place in range(0, len(units), 2))


def message(name: str, single: str | None = None, /, **values: str) -> str:
    """Return a service message as one line."""
    if single is not None:
        return f"##teamcity[{name} '{escape(single)}']"
    attributes = " ".join(f"{key}='{escape(text)}'" for key, text in values.items())
    return f"##teamcity[{name} {attributes}]"


class TeamCity(Host):
    name = "teamcity"
    variable = "TEAMCITY_VERSION"
    wide = True

    def harmless(self, line: str) -> str:
        """Return the line with service messages defused, which may begin anywhere in it."""
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

    def fail(self, problem: Problem) -> None:
        # TeamCity takes a Java identifier of at most 60 characters.
        identity = re.sub(r"\W", "_", problem.identity, flags=re.ASCII)[:MOST_IDENTITY]
        self._say(message("buildProblem", description=problem.text[:MOST_PROBLEM], identity=identity))

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
        for problem in announcement.problems:
            self.fail(problem)
        for path in announcement.artifacts:
            self._publish(path.absolute())
        # Braces in the status could be read as a reference, as {build.status.text} is.
        self._say(message("buildStatus", text="{build.status.text}; " + announcement.status.replace("{", "(")))

    def _publish(self, path: Path) -> None:
        """Publish a folder as one archive, or a file as it is. It replaces what the build's artifact rules publish
        under the same name."""
        if UNQUOTED.search(str(path)):
            text = f"{path} is not published: TeamCity's rules of artifacts have no way to write this name"
            self._say(message("message", text=text, status=STATUS["warning"]))
        else:
            self._say(message("publishArtifacts", str(path) if path.is_file() else f"{path} => {path.name}.zip"))
