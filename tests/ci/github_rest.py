"""The part of GitHub's REST API that our workflows ask, route by route, as GitHub's own description has them.

What an answer must have beside what is known here is what the description's examples have there: github_examples.json.
tests/ci/test_repository.py holds routes, parameters and answers to that description.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

Answer = tuple[int, bytes, dict[str, str]]
REPOSITORY = "/repos/{owner}/{repo}"
EXAMPLES: dict[str, dict[str, Any]] = json.loads(Path(__file__).with_name("github_examples.json").read_text())
BOT = {**EXAMPLES["issue"]["user"], "login": "github-actions[bot]", "type": "Bot"}
PERSON = EXAMPLES["issue"]["user"]
WHEN = "2026-01-01T00:00:00Z"


@dataclass(frozen=True)
class Request:
    """What is asked: the numbers and names in the path, the query, and the body."""

    path: Mapping[str, str]
    query: Mapping[str, str]
    body: Mapping[str, Any]

    def number(self, name: str) -> int:
        """One in the path."""
        return int(self.path[name])


@dataclass(frozen=True)
class Route:
    """What GitHub knows by a method and a path; other parameters of the query or the body are refused."""

    answer: Callable[[Known, Request], Answer]
    query: frozenset[str]
    body: frozenset[str]


ROUTES: dict[tuple[str, str], Route] = {}
Handler = Callable[["Known", Request], Answer]


def route(method: str, path: str, query: str = "", body: str = "") -> Callable[[Handler], Handler]:
    """Puts the function into ROUTES; `path` is of the repository, as the description spells it."""

    def known(handler: Handler) -> Handler:
        ROUTES[method, REPOSITORY + path] = Route(handler, frozenset(query.split()), frozenset(body.split()))
        return handler

    return known


@dataclass
class Known:
    """What GitHub knows, the same for every repository.

    An artifact is the file RUN/NAME.zip in its folder, or RUN/ATTEMPT/NAME.zip of a later attempt. A name is used once
    in an attempt, not in a run: who ran into the 409 found that each further attempt could upload that name once more
    (https://github.com/axodotdev/cargo-dist/issues/656), and the clients take the newest of a name.
    """

    artifacts: Path
    workflows: dict[int, str] = field(default_factory=dict)
    """Of each run the file."""
    expired: set[str] = field(default_factory=set)
    """RUN/NAME of artifacts that are listed and cannot be downloaded any more."""
    foreign: set[int] = field(default_factory=set)
    """Runs of forks, whose branch is called main too."""
    branches: dict[int, str] = field(default_factory=dict)
    """Of the runs that are not of main."""
    jobs: dict[int, Sequence[tuple[str, str | None]]] = field(default_factory=dict)
    """Of each run their names and conclusions."""
    page: int = 100
    heads: dict[int, str] = field(default_factory=dict)
    """Of each pull request the commit."""
    comments: dict[int, dict[str, Any]] = field(default_factory=dict)
    issues: dict[int, dict[str, Any]] = field(default_factory=dict)
    digests: dict[Path, str] = field(default_factory=dict)
    """What was uploaded, as its client said."""
    address: str = ""

    def forget_runs(self) -> None:
        """As in a repository in which nothing has run: what is there is of a workflow that is gone."""
        self.workflows.clear()

    def rest(self, method: str, path: str, query: dict[str, str], body: dict[str, Any]) -> Answer:
        """Status, body and headers."""
        found = matching(method, path)
        if found is None:
            return _nothing()
        route = ROUTES[found[0]]
        if unknown := {*query} - route.query | {*body} - route.body:
            return _message(422, f"{method} {path} has no {', '.join(sorted(unknown))}")
        return route.answer(self, Request(found[1], query, body))

    # ------------------------------------------------------------------------------------------ runs, artifacts

    @route("GET", "")
    def repository(self, request: Request) -> Answer:
        return _answer("full-repository", id=1, default_branch="main", language=None, has_discussions=False)

    @route("GET", "/actions/runs/{run_id}")
    def run_(self, request: Request) -> Answer:
        number = request.number("run_id")
        return _json(self._run(number)) if number in self.workflows else _nothing()

    @route("GET", "/actions/workflows/{workflow_id}/runs", "branch status per_page page")
    def runs_of_a_workflow(self, request: Request) -> Answer:
        name, branch = request.path["workflow_id"], request.query.get("branch")
        found = [self._run(number) for number in sorted(self.workflows, reverse=True)]
        found = [each for each in found if each["path"].endswith(f"/{name}") and branch in {None, each["head_branch"]}]
        return self._paged(request, found, f"/actions/workflows/{name}/runs", "workflow_runs")

    def _run(self, number: int) -> dict[str, Any]:
        example = EXAMPLES["workflow-run"]
        return {
            **example,
            "id": number,
            "workflow_id": _workflow(self.workflows[number]),
            "path": self.workflows[number],
            "head_branch": self.branches.get(number, "main"),
            "head_repository": {**example["head_repository"], "id": 2 if number in self.foreign else 1},
            "repository": {**example["repository"], "id": 1},
            "created_at": f"2026-01-01T00:00:{number % 60:02}Z",
            "run_attempt": 1,
        }

    @route("GET", "/actions/runs/{run_id}/jobs", "per_page page")
    def jobs_of_a_run(self, request: Request) -> Answer:
        number = request.number("run_id")
        found = [
            {**EXAMPLES["job"], "id": i, "run_id": number, "name": name, "conclusion": conclusion, "created_at": WHEN,
             "status": "completed" if conclusion else "in_progress",
             "html_url": f"https://github.com/o/r/actions/runs/{number}/job/{i}"}
            for i, (name, conclusion) in enumerate(self.jobs.get(number, []), 1)
        ]  # fmt: skip
        return self._paged(request, found, f"/actions/runs/{number}/jobs", "jobs")

    @route("GET", "/actions/artifacts", "name per_page page")
    def all_artifacts(self, request: Request) -> Answer:
        runs = sorted((each.name for each in self.artifacts.iterdir()), key=int)
        return self._artifacts(request, "/actions/artifacts", runs)

    @route("GET", "/actions/runs/{run_id}/artifacts", "name per_page page")
    def artifacts_of_a_run(self, request: Request) -> Answer:
        run = request.path["run_id"]
        return self._artifacts(request, f"/actions/runs/{run}/artifacts", [run])

    @route("GET", "/actions/artifacts/{artifact_id}/{archive_format}")
    def archive(self, request: Request) -> Answer:
        stored = {number_of(path): path for path in self.artifacts.rglob("*.zip")}
        return 302, b"", {"location": self.blob_address(stored[request.number("artifact_id")])}

    def listed(self, run: str) -> list[dict[str, Any]]:
        """The artifacts of a run, and of which attempt they are."""
        return [
            {
                **EXAMPLES["artifact"],
                "id": number_of(path),
                "name": path.name.removesuffix(".zip"),
                "size_in_bytes": path.stat().st_size,
                "created_at": WHEN,
                "expired": f"{run}/{path.name.removesuffix('.zip')}" in self.expired,
                "workflow_run": {
                    "id": int(run),
                    "repository_id": 1,
                    "head_repository_id": 2 if int(run) in self.foreign else 1,
                    "head_branch": "main",
                },
                "digest": self.digests.get(path) or "sha256:" + hashlib.sha256(path.read_bytes()).hexdigest(),
                "attempt": "1" if path.parent.name == run else path.parent.name,
            }
            for path in sorted((self.artifacts / run).rglob("*.zip"))
        ]

    def blob_address(self, path: Path) -> str:
        """Where an artifact is stored."""
        return f"{self.address}/blobs/{path.relative_to(self.artifacts)}"

    def _artifacts(self, request: Request, path: str, runs: Sequence[str]) -> Answer:
        name = request.query.get("name")
        found = [each for run in runs for each in self.listed(run) if name in {None, each["name"]}]
        return self._paged(request, found, path, "artifacts")

    # -------------------------------------------------------------------- pull requests, issues, comments, the site

    @route("GET", "/pulls/{pull_number}")
    def pull(self, request: Request) -> Answer:
        number = request.number("pull_number")
        if number not in self.heads:
            return _nothing()
        head = {**EXAMPLES["pull-request"]["head"], "sha": self.heads[number]}
        return _answer("pull-request", number=number, head=head)

    @route("GET", "/issues", "creator state per_page page")
    def all_issues(self, request: Request) -> Answer:
        creator, state = request.query.get("creator"), request.query.get("state", "open")
        found = [
            each
            for _, each in sorted(self.issues.items(), reverse=True)
            if creator in {None, each["user"]["login"]} and state in {"all", each["state"]}
        ]
        return self._paged(request, found, "/issues")

    @route("POST", "/issues", body="title body")
    def open_issue(self, request: Request) -> Answer:
        return _json(self.issue(**request.body), 201)

    def issue(self, **values: Any) -> dict[str, Any]:
        """A new one, of a job's token if nothing else is said."""
        number = len(self.issues) + 1
        new = {**EXAMPLES["issue"], "id": number, "number": number, "user": BOT, "state": "open", **values}
        return self.issues.setdefault(number, new)

    @route("PATCH", "/issues/{issue_number}", body="body state")
    def change_issue(self, request: Request) -> Answer:
        return _changed(self.issues.get(request.number("issue_number")), request)

    @route("GET", "/issues/{issue_number}/comments", "per_page page")
    def all_comments(self, request: Request) -> Answer:
        number = request.number("issue_number")
        found = [each for each in self.comments.values() if each["issue"] == number]
        return self._paged(request, found, f"/issues/{number}/comments")

    @route("POST", "/issues/{issue_number}/comments", body="body")
    def comment(self, request: Request) -> Answer:
        return _json(self.commented(request.number("issue_number"), **request.body), 201)

    def commented(self, issue: int, **values: Any) -> dict[str, Any]:
        """A new comment, of a job's token if nothing else is said."""
        new = {**EXAMPLES["issue-comment"], "id": len(self.comments) + 1, "issue": issue, "user": BOT, **values}
        return self.comments.setdefault(new["id"], new)

    @route("PATCH", "/issues/comments/{comment_id}", body="body")
    def change_comment(self, request: Request) -> Answer:
        return _changed(self.comments.get(request.number("comment_id")), request)

    @route("GET", "/pages")
    def pages(self, request: Request) -> Answer:
        return _answer("page", html_url=f"{self.address}/site/") if self.site.is_dir() else _nothing()

    @property
    def site(self) -> Path:
        """The files of the repository's pages; where there is no such folder, it has none."""
        return self.artifacts.parent / "site"

    def _paged(self, request: Request, found: list[dict[str, Any]], path: str, key: str = "") -> Answer:
        """As GitHub does it: the next page's address is in a header."""
        page, size = int(request.query.get("page", 1)), min(int(request.query.get("per_page", 30)), self.page)
        shown = found[(page - 1) * size : page * size]
        status, body, headers = _json({"total_count": len(found), key: shown} if key else shown)
        if page * size < len(found):
            following = urlencode({**request.query, "per_page": size, "page": page + 1})
            headers["link"] = f'<{self.address}/repos/o/r{path}?{following}>; rel="next"'
        return status, body, headers


def number_of(path: Path) -> int:
    """Of an artifact; larger for what is newer, as at GitHub. JavaScript holds it without loss."""
    return path.stat().st_mtime_ns // 1000


def _workflow(path: str) -> int:
    return int(hashlib.sha256(path.encode()).hexdigest()[:6], 16)


def matching(method: str, path: str) -> tuple[tuple[str, str], dict[str, str]] | None:
    """Which of ROUTES, and what stands in the path."""
    for known, template in ROUTES:
        found = re.fullmatch(re.sub(r"\{(\w+)\}", r"(?P<\1>[^/]+)", template), path)
        if found and known == method:
            return (known, template), found.groupdict()
    return None


def _nothing() -> Answer:
    return _message(404, "Not Found")


def _changed(found: dict[str, Any] | None, request: Request) -> Answer:
    if found is None:
        return _nothing()
    found.update(request.body)
    return _json(found)


def _answer(example: str, **values: Any) -> Answer:
    return _json({**EXAMPLES[example], **values})


def _message(status: int, text: str) -> Answer:
    return _json({"message": text, "documentation_url": "https://docs.github.com/rest"}, status)


def _json(found: object, status: int = 200) -> Answer:
    return status, json.dumps(found).encode(), {"content-type": "application/json"}
