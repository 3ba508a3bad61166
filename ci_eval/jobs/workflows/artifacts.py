"""The download of the artifacts of a run at GitHub or of a build at TeamCity, for use elsewhere."""

from __future__ import annotations

from pathlib import Path

from ci_eval.ci import Screen
from ci_eval.ci.builds import Builds
from ci_eval.ci.repository import Repository
from ci_eval.core.base.errors import DownloadError


def beside(repository: Repository, name: str, pattern: str, output: Path, screen: Screen) -> list[Path]:
    """Download all artifacts that match `pattern`, from the newest run of the default branch that also left an artifact
    `name`. Each is unpacked into a folder of its name below `output`. Raises DownloadError, ArchiveError."""
    mark = next(iter(repository.artifacts(name)), None)
    if mark is None:
        raise DownloadError(f"no run of the default branch has an artifact {name}: none has left it yet, or it expired")
    artifacts = repository.all_of_run(mark.run, pattern)
    if not artifacts:
        raise DownloadError(f"run {mark.run} has no artifact {pattern}: look at its page which it has, or they expired")
    screen.say(f"{len(artifacts)} artifacts of run {mark.run}, of {mark.created}")
    return [repository.fetch(artifact, output / _folder_name(artifact.name)) for artifact in artifacts]


def of_newest_build(builds: Builds, pattern: str, output: Path, screen: Screen) -> list[Path]:
    """Download all zip files that match `pattern`, from the newest successful build of the default branch. Each is
    unpacked into a folder of its name below `output`. Raises DownloadError, ArchiveError."""
    build = builds.newest()
    names = builds.archives(build, pattern)
    if not names:
        raise DownloadError(f"build {build.number} of {builds.name} has no artifact {pattern}.zip: look at its page")
    screen.say(f"{len(names)} artifacts of build {build.number}, of {build.finished}")
    return [builds.fetch(build, name, output / _folder_name(name)) for name in names]


def _folder_name(name: str) -> str:
    # The name becomes a folder below the output, which it must not leave.
    if name in {"", ".", ".."} or "/" in name:
        raise DownloadError(f"{name!r} is no name of a folder: rename the artifact in the workflow that makes it")
    return name
