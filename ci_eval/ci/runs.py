"""The runs of workflows at GitHub, and the results of their jobs.

https://docs.github.com/en/rest/actions/workflow-runs, https://docs.github.com/en/rest/actions/workflow-jobs
"""

from __future__ import annotations

from dataclasses import dataclass

from ci_eval.ci.rest import Rest


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


def run(rest: Rest, number: int) -> Run:
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


def jobs(rest: Rest, number: int) -> list[RunJob]:
    """Return the jobs of the run's last attempt, those of called workflows included, as CALLER / JOB. Raises
    DownloadError."""
    listed = rest.listed(f"/actions/runs/{number}/jobs", "jobs")
    return [RunJob(name=job["name"], conclusion=job["conclusion"] or "", page=job["html_url"] or "") for job in listed]
