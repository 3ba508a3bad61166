"""The download of the artifacts of a run at GitHub, for use elsewhere."""

from __future__ import annotations

from pathlib import Path

from ci_eval.ci import Screen
from ci_eval.ci.repository import Artifact, Repository
from ci_eval.core.base.errors import DownloadError


def beside(repository: Repository, name: str, pattern: str, output: Path, screen: Screen) -> list[Path]:
    """Download all artifacts that match `pattern`, from the newest run of the default branch that also left an artifact
    `name`.

    Each is unpacked into a folder of its name below `output`. Raises DownloadError, ArchiveError.
    """
    mark = next(iter(repository.artifacts(name)), None)
    if mark is None:
        raise DownloadError(f"no run of the default branch has an artifact {name}: none has left it yet, or it expired")
    artifacts = repository.all_of_run(mark.run, pattern)
    if not artifacts:
        raise DownloadError(f"run {mark.run} has no artifact {pattern}: look at its page which it has, or they expired")
    screen.say(f"{len(artifacts)} artifacts of run {mark.run}, of {mark.created}")
    return [repository.fetch(artifact, output / _folder_name(artifact)) for artifact in artifacts]


def _folder_name(artifact: Artifact) -> str:
    # The name becomes a folder below the output, which it must not leave.
    if artifact.name in {"", ".", ".."} or "/" in artifact.name:
        raise DownloadError(
            f"{artifact.name!r} is no name of a folder: rename the artifact in the workflow that makes it"
        )
    return artifact.name
