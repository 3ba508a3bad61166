"""Issues of a GitHub repository that a workflow wrote, and comments on issues and pull requests.

https://docs.github.com/en/rest/issues
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from ci_eval.ci.rest import Rest

AUTHOR = "github-actions[bot]"
"""Who writes with the token of a job."""


@dataclass(frozen=True, kw_only=True)
class Issue:
    """What stands in an issue."""

    number: int
    body: str
    is_open: bool


@dataclass(frozen=True, kw_only=True)
class Comment:
    """What stands in a comment."""

    number: int
    """No other comment in the repository has it."""
    body: str


class Issues:
    """All that is said in a repository. What asks GitHub raises DownloadError."""

    def __init__(self, rest: Rest) -> None:
        self._rest = rest

    def of_workflows(self) -> Iterator[Issue]:
        """Open and closed ones, the newest first; nobody's but those that a job opened with its token."""
        for each in self._rest.listed("/issues", creator=AUTHOR, state="all"):
            if _is_of_bot(each) and "pull_request" not in each:
                yield Issue(number=each["number"], body=each["body"] or "", is_open=each["state"] == "open")

    def begin(self, title: str, body: str) -> int:
        """The number of a new issue."""
        return int(self._rest.send("POST", "/issues", {"title": title, "body": body})["number"])

    def change(self, number: int, body: str, *, is_open: bool) -> None:
        """Its text, and whether it is open."""
        self._rest.send("PATCH", f"/issues/{number}", {"body": body, "state": "open" if is_open else "closed"})

    def comments_of_bots(self, number: int) -> Iterator[Comment]:
        """On an issue or a pull request, the oldest first."""
        for each in self._rest.listed(f"/issues/{number}/comments"):
            if _is_of_bot(each):
                yield Comment(number=each["id"], body=each["body"] or "")

    def comment(self, number: int, body: str) -> None:
        """A new one on an issue or a pull request."""
        self._rest.send("POST", f"/issues/{number}/comments", {"body": body})

    def change_comment(self, number: int, body: str) -> None:
        """The text of a comment."""
        self._rest.send("PATCH", f"/issues/comments/{number}", {"body": body})

    def head(self, number: int) -> str:
        """The commit that a pull request is at; empty where there is no such pull request."""
        found = self._rest.find(f"/pulls/{number}")
        return str(found["head"]["sha"]) if found else ""


def _is_of_bot(found: Mapping[str, Any]) -> bool:
    """Whether no person wrote it; the author of what is left by an account that is gone is null."""
    return bool(found["user"]) and found["user"]["type"] == "Bot"
