"""The runs of workflows in a GitHub repository, the results of their jobs, and the artifacts that they left.

https://docs.github.com/en/rest/actions (artifacts, workflow-runs, workflow-jobs)
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from ci_eval.ci.rest import Rest
from ci_eval.core.fetch import archive


@dataclass(frozen=True, kw_only=True)
class Run:
    number: int
    workflow: int
    """Number of the workflow file, unique in the repository."""
    path: str
    """Path of the workflow file."""
    created: str
    """The time of the first start, as 2026-11-20T02:23:11Z."""
    of_default_branch: bool
    """True for runs of this repository's default branch; a fork's branch may have the same name."""


@dataclass(frozen=True, kw_only=True)
class RunJob:
    name: str
    conclusion: str
    """"" while it is running."""
    page: str


def read_run(rest: Rest, number: int) -> Run:
    workflow_run, repository = rest.get(f"/actions/runs/{number}"), rest.get("")
    return Run(
        number=workflow_run["id"],
        workflow=workflow_run["workflow_id"],
        path=workflow_run["path"].partition("@")[0],
        created=workflow_run["created_at"],
        of_default_branch=workflow_run["head_branch"] == repository["default_branch"]
        # The head repository is null if a fork was deleted.
        and (workflow_run["head_repository"] or {}).get("id") == repository["id"],
    )


def list_jobs(rest: Rest, number: int) -> list[RunJob]:
    """Return the jobs of the run's last attempt, those of called workflows included, as CALLER / JOB. Raises
    DownloadError."""
    listed = rest.listed(f"/actions/runs/{number}/jobs", "jobs")
    return [RunJob(name=job["name"], conclusion=job["conclusion"] or "", page=job["html_url"] or "") for job in listed]


@dataclass(frozen=True, kw_only=True)
class Artifact:
    name: str
    number: int
    run: int
    created: str


class Repository:
    def __init__(self, environment: Mapping[str, str]) -> None:
        self._rest = Rest(environment)

    @property
    def run(self) -> int:
        return self._rest.run

    def artifacts(self, name: str = "") -> list[Artifact]:
        """Return the artifacts of the default branch that still exist, the newest first. Those of forks and other
        branches are left out. `name` selects artifacts by name. Without it, all pages of GitHub's list are read."""
        branch = self._rest.get("")["default_branch"]
        artifacts = [
            _artifact(item)
            for item in self._rest.listed("/actions/artifacts", "artifacts", name=name)
            if not item["expired"]
            and item["workflow_run"]["head_branch"] == branch
            # A fork's branch may have the name of the default branch.
            and item["workflow_run"]["head_repository_id"] == item["workflow_run"]["repository_id"]
        ]
        return sorted(artifacts, key=lambda artifact: (artifact.run, artifact.created), reverse=True)

    def find_artifact(self, run: int, name: str) -> Artifact | None:
        listed = self._rest.listed(f"/actions/runs/{run}/artifacts", "artifacts", name=name)
        artifacts = [_artifact(item) for item in listed if not item["expired"]]
        return max(artifacts, key=lambda artifact: (artifact.created, artifact.number), default=None)

    def all_of_run(self, run: int, pattern: str) -> list[Artifact]:
        """Return the artifacts of a run that still exist and whose names match, the newest of each name."""
        listed = self._rest.listed(f"/actions/runs/{run}/artifacts", "artifacts")
        artifacts = sorted(
            (_artifact(item) for item in listed if not item["expired"]), key=lambda artifact: artifact.number
        )
        # A further attempt uploads the same name again, with a higher number.
        newest = {artifact.name: artifact for artifact in artifacts if fnmatchcase(artifact.name, pattern)}
        return [newest[name] for name in sorted(newest)]

    def is_of_this_workflow(self, artifact: Artifact) -> bool:
        """Return whether the artifact is of the same workflow file as this job, False for a run that was deleted."""
        return self.find_workflow(artifact.run) == self._rest.workflow

    def find_workflow(self, run: int) -> str:
        """Return the file of a run's workflow, such as .github/workflows/nightly.yml; "" for a run that was deleted."""
        workflow_run = self._rest.find(f"/actions/runs/{run}") or {}
        # GitHub may put @REF behind the path.
        return str(workflow_run.get("path", "")).partition("@")[0]

    def earlier_runs(self) -> Iterator[int]:
        """Yield the finished runs of this workflow file and of the default branch before this one, the newest first."""
        path = f"/actions/workflows/{self._rest.workflow.rpartition('/')[2]}/runs"
        branch = self._rest.get("")["default_branch"]
        for item in self._rest.listed(path, "workflow_runs", branch=branch, status="completed"):
            # A fork's branch may have the name of the default branch, and the fork may be gone.
            if item["id"] < self.run and (item["head_repository"] or {}).get("id") == item["repository"]["id"]:
                yield item["id"]

    def jobs(self, run: int) -> list[RunJob]:
        return list_jobs(self._rest, run)

    def page_of_run(self, run: int) -> str:
        return self._rest.page_of(run)

    def page_of(self, artifact: Artifact) -> str:
        return f"{self.page_of_run(artifact.run)}/artifacts/{artifact.number}"

    def fetch(self, artifact: Artifact, folder: Path) -> Path:
        with tempfile.TemporaryDirectory() as temporary:
            packed = Path(temporary) / f"{artifact.name}.zip"
            self._rest.download(f"/actions/artifacts/{artifact.number}/zip", packed)
            archive.unpack(packed, folder)
        return folder


def _artifact(item: Mapping[str, Any]) -> Artifact:
    return Artifact(name=item["name"], number=item["id"], run=item["workflow_run"]["id"], created=item["created_at"])
