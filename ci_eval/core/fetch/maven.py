"""A downloader of Maven artifacts: the sources jar, or the plain jar, from the repositories of the user's settings.
Nothing is built."""

from __future__ import annotations

import re
from pathlib import Path

from ci_eval.core.base.errors import InstallError
from ci_eval.core.fetch.clients import TIMEOUT, last_words, match_source, one_file, run_to_end

# Pinned: without a version, Maven takes whichever is newest.
COPY = "org.apache.maven.plugins:maven-dependency-plugin:3.6.1:copy"
MAVEN = re.compile(
    r"(?P<group>[A-Za-z0-9_][A-Za-z0-9._-]*):(?P<name>[A-Za-z0-9_][A-Za-z0-9._-]*)"
    r":(?P<version>(?!(?:LATEST|RELEASE)\Z)[A-Za-z0-9_][A-Za-z0-9._+-]*)(?<!-SNAPSHOT)"
    r"(?P<plain>:jar)?"
)
# Elsewhere, maven says "was not found in …" for what it did not find a short while ago.
UNKNOWN = re.compile(r"Could not find artifact|was not found in")


def artifact(coordinates: str, folder: Path, *, timeout: float = TIMEOUT) -> Path:
    """Return the sources jar of GROUP:ARTIFACT:VERSION, or its plain jar with :jar behind it, which mvn copies into
    `folder`. This takes seconds. Raises ConfigError or InstallError."""
    match = check_maven(coordinates)
    full = coordinates if match["plain"] else f"{coordinates}:jar:sources"

    def run(here: Path) -> None:
        # mvn takes options and extensions from the nearest .mvn folder at or above the current one.
        (here / ".mvn").mkdir()
        if trouble := _copy(full, here, timeout):
            raise InstallError(_explain(coordinates, trouble, here, timeout))

    return one_file(run, ".jar", folder, f"mvn brought no jar of {coordinates}. Check its settings.xml.")


def check_maven(coordinates: str) -> re.Match[str]:
    """Return the match of GROUP:ARTIFACT:VERSION, perhaps with :jar. Raises ConfigError unless it names one release for
    ever."""
    needed = "one exact release is needed, no snapshot, as in org.apache.commons:commons-lang3:3.14.0"
    plain = ":jar behind it takes the plain jar, not that of the sources."
    return match_source(MAVEN, coordinates, f"GROUP:ARTIFACT:VERSION: {needed}; {plain}")


def _copy(artifact: str, here: Path, timeout: float) -> str:
    """Copy one file into `here` by mvn. Returns why it could not, or ""."""
    # -U: what was missing a while ago is looked for again.
    return run_mvn("-U", COPY, f"-Dartifact={artifact}", "-DoutputDirectory=.", here=here, timeout=timeout)


def run_mvn(*arguments: str, here: Path, timeout: float = TIMEOUT) -> str:
    """Run mvn in a folder without a project of the user's. Returns the cause of its failure, or "". Raises InstallError
    if mvn is missing or takes too long."""
    ended = run_to_end(("mvn", "-q", "-B", "-Dstyle.color=never", *arguments), cwd=here, timeout=timeout)
    if not ended.code:
        return ""
    output = re.sub(r"\x1b\[[0-9;]*m", "", f"{ended.trouble}\n{ended.output}")
    # The text before the first "[Help" tells the cause; the text after it tells how to debug Maven.
    cause = re.split(r"-> \[Help \d+\]|^\[ERROR\] *$", output, maxsplit=1, flags=re.MULTILINE)[0]
    return last_words("\n".join(re.findall(r"^\[ERROR\] (.+)$", cause, re.MULTILINE)) or output)


def _explain(coordinates: str, trouble: str, here: Path, timeout: float) -> str:
    if not UNKNOWN.search(trouble):
        return f"mvn failed:\n{trouble}\nCheck the network, and the mirrors and proxies in Maven's settings.xml."
    release = coordinates.removesuffix(":jar")
    if not _copy(f"{release}:pom", here, timeout):
        missing, instead = (
            ("jar", "") if release != coordinates else ("sources jar", f"the plain jar ({release}:jar), ")
        )
        return (
            f"{release} has no {missing}: it was published without one.\n{trouble}\n"
            f"Try another version, {instead}or take the project by its git or https address."
        )
    return f"mvn does not know {coordinates}:\n{trouble}\nCheck group, artifact and version."
