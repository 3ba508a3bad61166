"""Read the jobs of earlier pipelines of a GitLab project and their artifacts, and write notes on merge requests.

https://docs.gitlab.com/api/jobs, https://docs.gitlab.com/api/job_artifacts, https://docs.gitlab.com/api/notes
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Literal, cast
from urllib.parse import quote

import msgspec
import requests

from ci_eval.ci.repository import PAGES, TIMEOUT, make_session, reachable, unpack
from ci_eval.core.base.errors import ConfigError, DownloadError

TOKEN = "CI_EVAL_GITLAB_TOKEN"  # noqa: S105 - the name of a variable
NEEDED = ("CI_API_V4_URL", "CI_PROJECT_ID", "CI_JOB_ID", "CI_JOB_TOKEN", "CI_DEFAULT_BRANCH")


class EarlierJob(msgspec.Struct, frozen=True, kw_only=True):
    path: str
    page: str
    succeeded: bool


class Project:
    def __init__(self, environment: Mapping[str, str]) -> None:
        if missing := [name for name in NEEDED if not environment.get(name)]:
            raise ConfigError(f"{', '.join(missing)} missing: run this in a job of GitLab")
        self._address = f"{environment['CI_API_V4_URL']}/projects/{quote(environment['CI_PROJECT_ID'], safe='')}"
        self._branch, self._job = environment["CI_DEFAULT_BRANCH"], int(environment["CI_JOB_ID"])
        token = environment.get(TOKEN, "")
        self._session = make_session(token, "application/json")
        # A parameter is not sent on after a redirect, so the storage of artifacts does not get the token.
        self._token = {} if token else {"job_token": environment["CI_JOB_TOKEN"]}
        if not token:
            del self._session.headers["Authorization"]

    @property
    def may_list(self) -> bool:
        """Return whether jobs can be listed. The token that GitLab gives to a job cannot list them."""
        return not self._token

    def earlier_jobs(self, name: str) -> Iterator[EarlierJob]:
        """Yield finished jobs of the default branch before this job, the newest first. If jobs cannot be listed, yield
        only the job of the newest pipeline in which all jobs succeeded."""
        if not self.may_list:
            path = f"/jobs/artifacts/{quote(self._branch, safe='')}/download?job={quote(name, safe='')}"
            yield EarlierJob(path=path, page="", succeeded=True)
            return
        for job in self._listed("/jobs?scope[]=success&scope[]=failed"):
            is_named = (job["name"], job["ref"], job["tag"]) == (name, self._branch, False)
            if is_named and job["id"] < self._job:
                succeeded = job["status"] == "success"
                yield EarlierJob(path=f"/jobs/{job['id']}/artifacts", page=job["web_url"], succeeded=succeeded)

    def fetch(self, job: EarlierJob, folder: Path) -> bool:
        """Download a job's artifacts. Return False if GitLab has none. Raises ArchiveError."""
        address = requests.Request("GET", self._address + job.path, params=self._token).prepare().url or ""
        try:
            with reachable("GitLab"):
                unpack(self._session, address, folder, _check, "artifacts")
        except _MissingError:
            return False
        return True

    def note(self, merge_request: str, body: str) -> bool:
        """Change our note that begins with the same line, or write a new one. Return True if a note was changed."""
        notes = f"/merge_requests/{int(merge_request)}/notes"
        author = self._ask("GET", f"{self._address.partition('/projects/')[0]}/user").json()["id"]
        start = body.partition("\n")[0]
        for note in self._listed(notes):
            if note["author"]["id"] == author and note["body"].startswith(start):
                self._ask("PUT", f"{self._address}{notes}/{note['id']}", {"body": body})
                return True
        self._ask("POST", self._address + notes, {"body": body})
        return False

    def _listed(self, path: str) -> Iterator[dict[str, Any]]:
        following = f"{self._address}{path}{'&' if '?' in path else '?'}per_page=100"
        for _ in range(PAGES):
            answer = self._ask("GET", following)
            yield from cast("list[dict[str, Any]]", answer.json())
            if not (following := answer.links.get("next", {}).get("url", "")):
                return
        raise DownloadError(f"GitLab has more than {PAGES * 100:,} items of {path.partition('?')[0]}")

    def _ask(
        self, method: Literal["GET", "PUT", "POST"], address: str, body: Mapping[str, str] | None = None
    ) -> requests.Response:
        with reachable("GitLab"):
            return _check(self._session.request(method, address, json=body, timeout=TIMEOUT))


class _MissingError(DownloadError):
    """GitLab has nothing at this address (404)."""


def _check(answer: requests.Response) -> requests.Response:
    if answer.ok:
        return answer
    # The query is cut off, since it may hold a token.
    said = f"GitLab answered {answer.status_code} to {answer.request.method} {answer.url.partition('?')[0]}"
    if answer.status_code == 404:
        raise _MissingError(said)
    advice = f"put a project token with the scope read_api (for notes: api) into {TOKEN}"
    raise DownloadError(f"{said}: {advice if answer.status_code in {401, 403} else 'run the job again later'}")
