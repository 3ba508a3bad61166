"""The artifacts that runs of workflows left in a GitHub repository.

https://docs.github.com/en/rest/actions/artifacts
"""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from ci_eval.ci.rest import Rest
from ci_eval.fetch import archive


@dataclass(frozen=True, kw_only=True)
class Artifact:
    """A named artifact that a run uploaded."""

    name: str
    number: int
    run: int
    created: str


class Repository:
    """The repository that a workflow runs in. Methods that ask GitHub raise DownloadError."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        """Raises ConfigError where the variables do not name a repository and hold a token."""
        self._rest = Rest(environment)

    @property
    def run(self) -> int:
        """The run of this job. Raises ConfigError outside of a run."""
        return self._rest.run

    def artifacts(self, name: str = "") -> list[Artifact]:
        """The artifacts of the default branch that still exist, the newest first; runs of forks and branches are left
        out.

        `name`: only those of that name; without it all of them, one page of GitHub's list after the other.
        """
        branch = self._rest.get("")["default_branch"]
        found = [
            _artifact(each)
            for each in self._rest.listed("/actions/artifacts", "artifacts", name=name)
            if not each["expired"]
            and each["workflow_run"]["head_branch"] == branch
            and each["workflow_run"]["head_repository_id"] == each["workflow_run"]["repository_id"]
        ]
        return sorted(found, key=lambda each: (each.run, each.created), reverse=True)

    def of_run(self, run: int, name: str) -> Artifact | None:
        """The newest artifact of that name of a run, if it still exists."""
        listed = self._rest.listed(f"/actions/runs/{run}/artifacts", "artifacts", name=name)
        found = [_artifact(each) for each in listed if not each["expired"]]
        return max(found, key=lambda each: (each.created, each.number), default=None)

    def all_of_run(self, run: int, pattern: str) -> list[Artifact]:
        """The artifacts of a run that still exist and whose names match, the newest of each name."""
        listed = self._rest.listed(f"/actions/runs/{run}/artifacts", "artifacts")
        found = sorted((_artifact(each) for each in listed if not each["expired"]), key=lambda each: each.number)
        newest = {each.name: each for each in found if fnmatchcase(each.name, pattern)}
        return [newest[name] for name in sorted(newest)]

    def is_of_this_workflow(self, artifact: Artifact) -> bool:
        """Whether the artifact is of the same workflow file as this job; False for a run that was deleted."""
        return self.workflow_of(artifact.run) == self._rest.workflow

    def workflow_of(self, run: int) -> str:
        """The file of a run's workflow, such as .github/workflows/nightly.yml; "" for a run that was deleted."""
        found = self._rest.find(f"/actions/runs/{run}") or {}
        return str(found.get("path", "")).partition("@")[0]

    def page_of_run(self, run: int) -> str:
        """The address of a run's page."""
        return self._rest.page_of(run)

    def page_of(self, artifact: Artifact) -> str:
        """The address from which a person downloads it."""
        return f"{self.page_of_run(artifact.run)}/artifacts/{artifact.number}"

    def fetch(self, artifact: Artifact, folder: Path) -> Path:
        """Download it and unpack it into a new folder. Raises DownloadError, ArchiveError."""
        with tempfile.TemporaryDirectory() as temporary:
            packed = Path(temporary) / f"{artifact.name}.zip"
            self._rest.download(f"/actions/artifacts/{artifact.number}/zip", packed)
            archive.unpack(packed, folder)
        return folder


def _artifact(found: Mapping[str, Any]) -> Artifact:
    return Artifact(
        name=found["name"], number=found["id"], run=found["workflow_run"]["id"], created=found["created_at"]
    )
