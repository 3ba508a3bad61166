"""Runs of workflows at GitHub, and what became of their jobs.

https://docs.github.com/en/rest/actions/workflow-runs, https://docs.github.com/en/rest/actions/workflow-jobs
"""

from __future__ import annotations

from dataclasses import dataclass

from ci_eval.ci.rest import Rest


@dataclass(frozen=True, kw_only=True)
class Run:
    """One run of a workflow."""

    number: int
    workflow: int
    """The number of its file, which no other file of the repository has."""
    path: str
    """Of that file."""
    created: str
    """When it was started first, as 2026-11-20T02:23:11Z."""
    of_default_branch: bool
    """And not a fork's, whose branch may have the same name."""


@dataclass(frozen=True, kw_only=True)
class RunJob:
    """One job of a run."""

    name: str
    conclusion: str
    """Empty as long as it runs."""
    page: str


def run(rest: Rest, number: int) -> Run:
    """Raises DownloadError where there is none."""
    found, repository = rest.get(f"/actions/runs/{number}"), rest.get("")
    return Run(
        number=found["id"],
        workflow=found["workflow_id"],
        path=found["path"].partition("@")[0],
        created=found["created_at"],
        of_default_branch=found["head_branch"] == repository["default_branch"]
        # That of a fork that is gone is null.
        and (found["head_repository"] or {}).get("id") == repository["id"],
    )


def jobs(rest: Rest, number: int) -> list[RunJob]:
    """Of the newest attempt; those of called workflows too, named CALLER / JOB. Raises DownloadError."""
    listed = rest.listed(f"/actions/runs/{number}/jobs", "jobs")
    return [
        RunJob(name=each["name"], conclusion=each["conclusion"] or "", page=each["html_url"] or "") for each in listed
    ]
