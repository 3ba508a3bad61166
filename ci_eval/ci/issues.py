"""The issues of a GitHub repository that workflows wrote, and comments on issues and pull requests.

https://docs.github.com/en/rest/issues
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from ci_eval.ci.rest import Rest

AUTHOR = "github-actions[bot]"
"""The author of what is written with the token of a job."""


@dataclass(frozen=True, kw_only=True)
class Issue:
    number: int
    body: str
    is_open: bool


@dataclass(frozen=True, kw_only=True)
class Comment:
    number: int
    """Unique in the repository."""
    body: str


class Issues:
    """The issues and comments of a repository. Methods that ask GitHub raise DownloadError."""

    def __init__(self, rest: Rest) -> None:
        self._rest = rest

    def list_bot_issues(self) -> Iterator[Issue]:
        """Yield the issues, open or closed, that a job opened with its token; the newest first."""
        for issue in self._rest.listed("/issues", creator=AUTHOR, state="all"):
            # GitHub lists pull requests among the issues.
            if _is_of_bot(issue) and "pull_request" not in issue:
                yield Issue(number=issue["number"], body=issue["body"] or "", is_open=issue["state"] == "open")

    def begin(self, title: str, body: str) -> int:
        return int(self._rest.send("POST", "/issues", {"title": title, "body": body})["number"])

    def change(self, number: int, body: str, *, is_open: bool) -> None:
        self._rest.send("PATCH", f"/issues/{number}", {"body": body, "state": "open" if is_open else "closed"})

    def comments_of_bots(self, number: int) -> Iterator[Comment]:
        for comment in self._rest.listed(f"/issues/{number}/comments"):
            if _is_of_bot(comment):
                yield Comment(number=comment["id"], body=comment["body"] or "")

    def comment(self, number: int, body: str) -> None:
        self._rest.send("POST", f"/issues/{number}/comments", {"body": body})

    def change_comment(self, number: int, body: str) -> None:
        self._rest.send("PATCH", f"/issues/comments/{number}", {"body": body})

    def head(self, number: int) -> str:
        """Return the head commit of a pull request; "" if there is no such pull request."""
        pull_request = self._rest.find(f"/pulls/{number}")
        return str(pull_request["head"]["sha"]) if pull_request else ""


def _is_of_bot(item: Mapping[str, Any]) -> bool:
    # GitHub gives null for the user of a deleted account, which was a person's.
    return bool(item["user"]) and item["user"]["type"] == "Bot"
