"""A stand-in for the part of GitHub's REST API that reviews are read from; its answers are made of GitHub's examples.

test_records.py holds its routes, parameters and answers against GitHub's own description.
"""

from __future__ import annotations

import difflib
import json
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, unquote, urlencode, urlsplit

from tests.ci.github_rest import EXAMPLES

Answer = tuple[int, bytes, dict[str, str]]
REPOSITORY = "/repos/{owner}/{repo}"
ROUTES = {
    REPOSITORY: "repository",
    f"{REPOSITORY}/pulls/comments": "listed",
    f"{REPOSITORY}/issues/comments": "listed_of_issues",
    f"{REPOSITORY}/comments": "listed_of_commits",
    f"{REPOSITORY}/pulls/{{pull_number}}": "pull",
    f"{REPOSITORY}/pulls/{{pull_number}}/commits": "commits",
    f"{REPOSITORY}/commits/{{ref}}": "commit",
    f"{REPOSITORY}/compare/{{basehead}}": "compare",
    f"{REPOSITORY}/contents/{{path}}": "contents",
}
BASE, HEAD, LATER = "0" * 40, "1" * 40, "2" * 40
PUSHED = {HEAD: "2026-01-01T00:00:00Z", LATER: "2026-02-01T00:00:00Z"}
"""Commits of the pull request, and when they were made."""
OLD = """\
import os


def take(items, n):
    return items


class Box:
    def grow(self, by):
        self.size = by
"""
NEW = """\
import os
import sys


def take(items, n):
    found = items[:n]
    return found


class Box:
    def grow(self, by):
        self.size += by
"""


@dataclass
class GitHub:
    """One repository; what it says first, whatever it is asked; what it was asked."""

    licence: str | None = "MIT"
    comments: list[dict[str, Any]] = field(default_factory=list)
    of_issues: list[dict[str, Any]] = field(default_factory=list)
    of_commits: list[dict[str, Any]] = field(default_factory=list)
    texts: dict[str, tuple[str, str | bytes]] = field(default_factory=lambda: {"box.py": (OLD, NEW)})
    """Path → before and after."""
    gone: bool = False
    """Whether no file can be had any more."""
    author: int = 7
    page: int = 100
    first: list[Answer] = field(default_factory=list)
    asked: list[tuple[str, dict[str, str]]] = field(default_factory=list)
    address: str = ""

    def comment(self, body: str = "Why?", line: int | None = 6, path: str = "box.py", **more: Any) -> None:
        """Add one by user 1 on the lines up to `line`."""
        number = len(self.comments) + 1
        self.comments.append(
            {
                **EXAMPLES["pull-request-review-comment"],
                "id": number,
                "body": body,
                "path": path,
                "original_line": line,
                "line": line,
                "original_start_line": None,
                "side": "RIGHT",
                "subject_type": "line",
                "original_commit_id": HEAD,
                "created_at": f"2026-01-01T00:00:{number % 60:02}Z",
                "pull_request_url": f"{self.address}/repos/o/r/pulls/5",
                "html_url": f"https://github.com/o/r/pull/5#discussion_r{number}",
                **more,
            }
        )

    def comment_on_pull(self, body: str = "Why?", created: str = "2026-01-01T12:00:00Z", **more: Any) -> None:
        """Add one by user 1 on the whole of pull request 5."""
        number = len(self.of_issues) + 1
        self.of_issues.append(
            {
                **EXAMPLES["issue-comment"],
                "id": number,
                "body": body,
                "created_at": created,
                "issue_url": f"{self.address}/repos/o/r/issues/5",
                "html_url": f"https://github.com/o/r/pull/5#issuecomment-{number}",
                **more,
            }
        )

    def comment_on_commit(
        self, body: str = "Why?", position: int | None = None, path: str | None = None, **more: Any
    ) -> None:
        """Add one by user 1 on HEAD, or on a line of its diff of `path`."""
        number = len(self.of_commits) + 1
        self.of_commits.append(
            {
                **EXAMPLES["commit-comment"],
                "id": number,
                "body": body,
                "path": path,
                "position": position,
                "line": position,
                "commit_id": HEAD,
                "html_url": f"https://github.com/o/r/commit/{HEAD}#commitcomment-{number}",
                **more,
            }
        )

    def answer(self, target: str, headers: dict[str, str]) -> Answer:
        """What it says to a GET request."""
        self.asked.append((target, headers))
        if self.first:
            return self.first.pop(0)
        parts = urlsplit(target)
        query = {name: values[0] for name, values in parse_qs(parts.query).items()}
        route = matching(parts.path)
        if not route:
            return _json({"message": "Not Found"}, 404)
        answer: Answer = getattr(self, ROUTES[route[0]])(route[1], query)
        return answer

    def repository(self, _: dict[str, str], __: dict[str, str]) -> Answer:
        licence = {**EXAMPLES["full-repository"]["license"], "spdx_id": self.licence} if self.licence else None
        return _json({**EXAMPLES["full-repository"], "has_discussions": False, "license": licence})

    def listed(self, _: dict[str, str], query: dict[str, str]) -> Answer:
        return self._page(self.comments, "/repos/o/r/pulls/comments", query)

    def listed_of_issues(self, _: dict[str, str], query: dict[str, str]) -> Answer:
        return self._page(self.of_issues, "/repos/o/r/issues/comments", query)

    def listed_of_commits(self, _: dict[str, str], query: dict[str, str]) -> Answer:
        return self._page(self.of_commits, "/repos/o/r/comments", query)

    def commits(self, given: dict[str, str], query: dict[str, str]) -> Answer:
        example = EXAMPLES["commit"]
        commits = [
            {**example, "sha": sha, "commit": {**example["commit"], "committer": {"date": date}}}
            for sha, date in PUSHED.items()
        ]
        return self._page(commits, f"/repos/o/r/pulls/{given['pull_number']}/commits", query)

    def commit(self, given: dict[str, str], _: dict[str, str]) -> Answer:
        example = EXAMPLES["commit"]
        author = {**example["author"], "id": self.author}
        files = [_changed(path, *texts) for path, texts in self.texts.items()]
        return _json({**example, "sha": HEAD, "author": author, "files": files})

    def _page(self, items: list[dict[str, Any]], path: str, query: dict[str, str]) -> Answer:
        page, size = int(query.get("page", 1)), min(int(query.get("per_page", 30)), self.page)
        answer = _json(items[(page - 1) * size : page * size])
        if page * size < len(items):
            following = urlencode({**query, "page": page + 1})
            answer[2]["link"] = f'<{self.address}{path}?{following}>; rel="next"'
        return answer

    def pull(self, given: dict[str, str], _: dict[str, str]) -> Answer:
        example = EXAMPLES["pull-request"]
        user = {**example["user"], "id": self.author}
        return _json(
            {**example, "number": int(given["pull_number"]), "user": user, "base": {**example["base"], "sha": BASE}}
        )

    def compare(self, given: dict[str, str], _: dict[str, str]) -> Answer:
        assert given["basehead"] == f"{BASE}...{HEAD}"
        files = [_changed(path, *texts) for path, texts in self.texts.items()]
        return _json({**EXAMPLES["commit-comparison"], "files": files})

    def contents(self, given: dict[str, str], query: dict[str, str]) -> Answer:
        found = self.texts.get(unquote(given["path"]))
        assert query["ref"] == HEAD
        if not found or self.gone:
            return _json({"message": "Not Found"}, 404)
        data = found[1] if isinstance(found[1], bytes) else found[1].encode()
        return 200, data, {"content-type": "application/vnd.github.raw+json; charset=utf-8"}


def matching(path: str) -> tuple[str, dict[str, str]] | None:
    """Which of ROUTES, and what stands in the path."""
    for template in ROUTES:
        pattern = re.sub(
            r"\{(\w+)\}", lambda each: f"(?P<{each[1]}>{'.+' if each[1] == 'path' else '[^/]+'})", template
        )
        if found := re.fullmatch(pattern, path):
            return template, found.groupdict()
    return None


def patch(old: str, new: str) -> str:
    """The hunks of a unified diff."""
    return "\n".join(list(difflib.unified_diff(old.splitlines(), new.splitlines(), lineterm=""))[2:])


def _changed(path: str, old: str, new: str | bytes) -> dict[str, Any]:
    hunks = patch(old, new) if isinstance(new, str) else ""
    counts = {
        name: sum(line[:1] == sign for line in hunks.split("\n"))
        for name, sign in (("additions", "+"), ("deletions", "-"))
    }
    address = f"https://github.com/o/r/blob/{HEAD}/{path}"
    entry = {
        "sha": "2" * 40, "filename": path, "status": "modified", **counts, "changes": sum(counts.values()),
        "blob_url": address, "raw_url": address, "contents_url": address,
    }  # fmt: skip
    return {**entry, "patch": hunks} if hunks else entry


def _json(found: object, status: int = 200) -> Answer:
    return status, json.dumps(found).encode(), {"content-type": "application/json"}


@contextmanager
def serve(github: GitHub) -> Iterator[GitHub]:
    """It listens at its address."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            status, body, headers = github.answer(
                self.path, {name.lower(): text for name, text in self.headers.items()}
            )
            self.send_response(status)
            for name, text in {**headers, "content-length": str(len(body))}.items():
                self.send_header(name, text)
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - its name in the base class
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    github.address = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield github
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
