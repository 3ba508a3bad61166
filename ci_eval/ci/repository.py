"""Read the runs of workflows in a GitHub repository, their jobs and artifacts, and write issues and comments.

https://docs.github.com/en/rest/actions (artifacts, workflow-runs, workflow-jobs)
"""

from __future__ import annotations

import re
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, Literal, cast
from urllib.parse import urlsplit

import msgspec
import requests
from requests.adapters import HTTPAdapter
from urllib3.util import Retry

from ci_eval.core.base.errors import ConfigError, DownloadError
from ci_eval.fetch import archive

TIMEOUT = (10.0, 60.0)
PAGES = 20
CHUNK = 1 << 20
MOST = 2 << 30
"""The limit of a download, in bytes."""
RIGHTS = "x-accepted-github-permissions"
"""The header that names the rights a request needs:
https://github.blog/changelog/2023-08-10-x-accepted-github-permissions-header-for-fine-grained-permission-actors
"""


def variables_of(page: str, environment: Mapping[str, str]) -> dict[str, str]:
    """Return the variables that `Repository` reads, for the repository at the address `page`. Raises ConfigError if
    the address is not of a repository, or if the token in the environment is for another server."""
    match = re.fullmatch(r"https://([\w.-]+(?::\d+)?)/([\w.-]+/[\w.-]+?)(?:\.git)?/?", page)
    if not match:
        raise ConfigError(
            f"{page} is neither a repository nor a build configuration: give https://github.com/OWNER/NAME (or the "
            "host of a GitHub Enterprise Server), or https://SERVER/buildConfiguration/ID of TeamCity"
        )
    host, names = match.groups()
    own = urlsplit(environment.get("GITHUB_SERVER_URL", "")).netloc
    if own and own != host:
        raise ConfigError(
            f"GITHUB_TOKEN belongs to {own}; for {host}, put a token of {host} into GITHUB_TOKEN, and https://{host} "
            "into GITHUB_SERVER_URL"
        )
    # An Enterprise Server has its API at a different address.
    api = "https://api.github.com" if host == "github.com" else f"https://{host}/api/v3"
    if own:
        # A runner of this server knows the right address, for example behind a proxy.
        api = environment.get("GITHUB_API_URL", api)
    return {"GITHUB_REPOSITORY": names, "GITHUB_SERVER_URL": f"https://{host}", "GITHUB_API_URL": api}


class Run(msgspec.Struct, frozen=True, kw_only=True):
    number: int
    workflow: int
    path: str
    created: str
    """The time, such as 2026-11-20T02:23:11Z."""
    of_default_branch: bool
    """Whether the run is of the default branch; False for a fork's branch of the same name."""


class RunJob(msgspec.Struct, frozen=True, kw_only=True):
    name: str
    conclusion: str
    """The result of the job; "" while it is running."""
    page: str


class Artifact(msgspec.Struct, frozen=True, kw_only=True):
    name: str
    number: int
    run: int
    created: str


AUTHOR = "github-actions[bot]"


class Issue(msgspec.Struct, frozen=True, kw_only=True):
    number: int
    body: str
    is_open: bool


MARK = "trend.json"
"""A file that every trend site has, but hardly any other site."""


class Repository:
    """A repository, asked with the token of a job. A failed request raises DownloadError."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        missing = [name for name in ("GITHUB_REPOSITORY", "GITHUB_TOKEN") if not environment.get(name)]
        if missing:
            raise _missing_variables(missing)
        self._run = environment.get("GITHUB_RUN_ID", "")
        repository = environment["GITHUB_REPOSITORY"]
        # The form is OWNER/NAME/.github/workflows/FILE@REF.
        reference = environment.get("GITHUB_WORKFLOW_REF", "")
        self._workflow = reference.partition("@")[0].removeprefix(f"{repository}/")
        self._page = f"{environment.get('GITHUB_SERVER_URL', 'https://github.com')}/{repository}"
        self._address = f"{environment.get('GITHUB_API_URL', 'https://api.github.com')}/repos/{repository}"
        self._session = make_session(environment["GITHUB_TOKEN"], "application/vnd.github+json")

    @property
    def run(self) -> int:
        if not self._run:
            raise _missing_variables(["GITHUB_RUN_ID"])
        return int(self._run)

    def page_of_run(self, run: int) -> str:
        return f"{self._page}/actions/runs/{run}"

    def page_of(self, artifact: Artifact) -> str:
        return f"{self.page_of_run(artifact.run)}/artifacts/{artifact.number}"

    def artifacts(self, name: str = "") -> list[Artifact]:
        """Return the artifacts of the default branch that have not expired, the newest first, without those of forks.
        Only artifacts called `name` are returned; if `name` is "", all pages of GitHub's list are read."""
        branch = self._get("")["default_branch"]
        artifacts = [
            _artifact(item)
            for item in self._listed("/actions/artifacts", "artifacts", name=name)
            if not item["expired"]
            and item["workflow_run"]["head_branch"] == branch
            # A fork's branch may have the name of the default branch.
            and item["workflow_run"]["head_repository_id"] == item["workflow_run"]["repository_id"]
        ]
        return sorted(artifacts, key=lambda artifact: (artifact.run, artifact.created), reverse=True)

    def find_artifact(self, run: int, name: str) -> Artifact | None:
        return max(self._of_run(run, name), key=lambda artifact: (artifact.created, artifact.number), default=None)

    def all_of_run(self, run: int, pattern: str) -> list[Artifact]:
        """Return, for each matching name in a run, the newest artifact that still exists."""
        artifacts = sorted(self._of_run(run), key=lambda artifact: artifact.number)
        # If a run is attempted again, the same name is uploaded again, with a higher number.
        newest = {artifact.name: artifact for artifact in artifacts if fnmatchcase(artifact.name, pattern)}
        return [newest[name] for name in sorted(newest)]

    def _of_run(self, run: int, name: str = "") -> list[Artifact]:
        listed = self._listed(f"/actions/runs/{run}/artifacts", "artifacts", name=name)
        return [_artifact(item) for item in listed if not item["expired"]]

    def is_of_this_workflow(self, artifact: Artifact) -> bool:
        """Return whether the artifact's run is of this workflow file; False if the run was deleted."""
        return self.find_workflow(artifact.run) == self._workflow

    def find_workflow(self, run: int) -> str:
        """Return the path of a run's workflow, such as .github/workflows/nightly.yml; "" if the run was deleted."""
        workflow_run = self._find(f"/actions/runs/{run}") or {}
        # GitHub may append @REF to the path.
        return str(workflow_run.get("path", "")).partition("@")[0]

    def earlier_runs(self) -> Iterator[int]:
        """Yield the finished runs of this workflow file on the default branch, the newest first."""
        path = f"/actions/workflows/{self._workflow.rpartition('/')[2]}/runs"
        branch = self._get("")["default_branch"]
        for item in self._listed(path, "workflow_runs", branch=branch, status="completed"):
            # A fork's branch may have the name of the default branch, and the fork may have been deleted.
            if item["id"] < self.run and (item["head_repository"] or {}).get("id") == item["repository"]["id"]:
                yield item["id"]

    def read_run(self, number: int) -> Run:
        workflow_run, repository = self._get(f"/actions/runs/{number}"), self._get("")
        return Run(
            number=workflow_run["id"],
            workflow=workflow_run["workflow_id"],
            path=workflow_run["path"].partition("@")[0],
            created=workflow_run["created_at"],
            of_default_branch=workflow_run["head_branch"] == repository["default_branch"]
            # The head repository is null if a fork was deleted.
            and (workflow_run["head_repository"] or {}).get("id") == repository["id"],
        )

    def jobs(self, run: int) -> list[RunJob]:
        """Return the jobs of the last attempt. Jobs of called workflows are named CALLER / JOB."""
        listed = self._listed(f"/actions/runs/{run}/jobs", "jobs")
        return [
            RunJob(name=job["name"], conclusion=job["conclusion"] or "", page=job["html_url"] or "") for job in listed
        ]

    def fetch(self, artifact: Artifact, folder: Path) -> Path:
        # If GitHub redirects to another host, requests does not send the token.
        with reachable("GitHub"):
            path = f"/actions/artifacts/{artifact.number}/zip"
            unpack(self._session, self._address + path, folder, _check, artifact.name)
        return folder

    def list_bot_issues(self) -> Iterator[Issue]:
        """Yield the bot's open and closed issues, the newest first."""
        for issue in self._listed("/issues", creator=AUTHOR, state="all"):
            # GitHub lists pull requests among the issues.
            if _is_of_bot(issue) and "pull_request" not in issue:
                yield Issue(number=issue["number"], body=issue["body"] or "", is_open=issue["state"] == "open")

    def open_issue(self, title: str, body: str) -> int:
        return int(self._send("POST", "/issues", {"title": title, "body": body})["number"])

    def change_issue(self, number: int, body: str, *, is_open: bool) -> None:
        self._send("PATCH", f"/issues/{number}", {"body": body, "state": "open" if is_open else "closed"})

    def find_bot_comment(self, number: int, start: str) -> int | None:
        """Return the id of a bot's first comment that begins with `start`, on an issue or a pull request."""
        comments = self._listed(f"/issues/{number}/comments")
        return next((of["id"] for of in comments if _is_of_bot(of) and (of["body"] or "").startswith(start)), None)

    def comment(self, number: int, body: str) -> None:
        self._send("POST", f"/issues/{number}/comments", {"body": body})

    def change_comment(self, number: int, body: str) -> None:
        self._send("PATCH", f"/issues/comments/{number}", {"body": body})

    def head(self, number: int) -> str:
        """Return the head commit of a pull request; "" if no pull request has this number."""
        pull_request = self._find(f"/pulls/{number}")
        return str(pull_request["head"]["sha"]) if pull_request else ""

    def find_trend_site(self) -> str:
        """Return the address of the trend site; "" if the repository has no site, or a site of another kind."""
        site = self._find("/pages") or {}
        page = str(site.get("html_url") or "")
        if not page:
            return ""
        try:
            # The site is on another host, so the token is not sent. A private site answers with a login page.
            answer = requests.head(f"{page.rstrip('/')}/{MARK}", timeout=TIMEOUT, allow_redirects=True)
        except requests.RequestException:
            # If the site cannot be reached, only the link to it is missing.
            return ""
        return page if answer.ok and "json" in answer.headers.get("content-type", "") else ""

    def _get(self, path: str) -> dict[str, Any]:
        return cast("dict[str, Any]", _check(self._request("GET", self._address + path)).json())

    def _find(self, path: str) -> dict[str, Any] | None:
        answer = self._request("GET", self._address + path)
        return None if answer.status_code == 404 else cast("dict[str, Any]", _check(answer).json())

    def _listed(self, path: str, key: str = "", **query: str) -> Iterator[dict[str, Any]]:
        """Yield the items of all pages of a list; nothing if the list does not exist. `key` is the field with
        the list, or "" if the whole response is the list. Empty parameters in `query` are dropped."""
        parameters = {name: text for name, text in query.items() if text}
        asked = requests.Request("GET", self._address + path, params={**parameters, "per_page": 100}).prepare()
        following = asked.url
        for _ in range(PAGES):
            if not following:
                return
            answer = self._request("GET", following)
            if answer.status_code == 404:
                return
            page = _check(answer).json()
            yield from page[key] if key else page
            following = answer.links.get("next", {}).get("url")

    def _send(self, method: Literal["POST", "PATCH"], path: str, body: Mapping[str, str]) -> dict[str, Any]:
        """Create or change the object at `path`, and return it."""
        return cast("dict[str, Any]", _check(self._request(method, self._address + path, body)).json())

    def _request(self, method: str, address: str, body: Mapping[str, str] | None = None) -> requests.Response:
        with reachable("GitHub"):
            return self._session.request(method, address, json=body, timeout=TIMEOUT)


def _missing_variables(names: Sequence[str]) -> ConfigError:
    return ConfigError(
        f"{', '.join(names)} missing: run this in a step of a workflow, with GITHUB_TOKEN: "
        "${{ github.token }} in its env, and actions: read among the job's permissions"
    )


@contextmanager
def reachable(server: str, advice: str = "run the job again later") -> Iterator[None]:
    try:
        yield
    except requests.RequestException as error:
        raise DownloadError(f"{server} cannot be reached ({type(error).__name__}); {advice}") from None


def unpack(
    session: requests.Session,
    address: str,
    folder: Path,
    check: Callable[[requests.Response], requests.Response],
    name: str = "artifact",
) -> None:
    """Fetch and unpack a zip. Raises DownloadError above MOST bytes, RequestException, ArchiveError, or as `check`."""
    with tempfile.TemporaryDirectory() as temporary:
        packed = Path(temporary) / f"{name}.zip"
        with session.get(address, stream=True, timeout=TIMEOUT) as answer, packed.open("wb") as file:
            check(answer)
            for chunk in answer.iter_content(CHUNK):
                file.write(chunk)
                if file.tell() > MOST:
                    raise DownloadError(f"the artifact {name} is larger than {MOST:,} bytes")
        archive.unpack(packed, folder)


def make_session(token: str, accept: str) -> requests.Session:
    """Return a session that sends the token, and retries requests that may succeed later. `accept` is a media type."""
    session = requests.Session()
    # POST is not retried, since it would create an item twice.
    again = Retry(
        total=4, backoff_factor=1.0, status_forcelist=(429, 500, 502, 503, 504), allowed_methods={"GET", "PATCH"}
    )
    for scheme in ("https://", "http://"):
        session.mount(scheme, HTTPAdapter(max_retries=again))
    session.headers["Accept"] = accept
    session.headers["Authorization"] = f"Bearer {token}"
    return session


def _check(answer: requests.Response) -> requests.Response:
    if answer.ok:
        return answer
    said = f"GitHub answered {answer.status_code}"
    with suppress(ValueError, KeyError, TypeError):
        said += f" ({answer.json()['message']})"
    # 403 means that the token lacks rights, or that there were too many requests.
    if answer.status_code == 403 and "rate limit" not in said:
        rights = answer.headers.get(RIGHTS, "actions=read").replace("=", ": ").replace("_", "-")
        raise DownloadError(f"{said}: give the job `permissions: {{{rights}}}`")
    raise DownloadError(f"{said} to {answer.request.method} {answer.request.path_url}; run the job again later")


def _artifact(item: Mapping[str, Any]) -> Artifact:
    return Artifact(name=item["name"], number=item["id"], run=item["workflow_run"]["id"], created=item["created_at"])


def _is_of_bot(item: Mapping[str, Any]) -> bool:
    # GitHub gives null for the user of a deleted account. Such an account was not a bot.
    return bool(item["user"]) and item["user"]["type"] == "Bot"
