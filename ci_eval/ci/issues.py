"""Issues of a GitHub repository that workflows wrote, and comments on issues and pull requests.

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
    """An issue."""

    number: int
    body: str
    is_open: bool


@dataclass(frozen=True, kw_only=True)
class Comment:
    """A comment on an issue or a pull request."""

    number: int
    """Unique in the repository."""
    body: str


class Issues:
    """Issues and comments of a repository. Methods that ask GitHub raise DownloadError."""

    def __init__(self, rest: Rest) -> None:
        self._rest = rest

    def of_workflows(self) -> Iterator[Issue]:
        """The issues, open or closed, that a job opened with its token; the newest first."""
        for each in self._rest.listed("/issues", creator=AUTHOR, state="all"):
            if _is_of_bot(each) and "pull_request" not in each:
                yield Issue(number=each["number"], body=each["body"] or "", is_open=each["state"] == "open")

    def begin(self, title: str, body: str) -> int:
        """Open an issue; returns its number."""
        return int(self._rest.send("POST", "/issues", {"title": title, "body": body})["number"])

    def change(self, number: int, body: str, *, is_open: bool) -> None:
        """Change the text of an issue, and open or close it."""
        self._rest.send("PATCH", f"/issues/{number}", {"body": body, "state": "open" if is_open else "closed"})

    def comments_of_bots(self, number: int) -> Iterator[Comment]:
        """The comments of bots on an issue or a pull request, the oldest first."""
        for each in self._rest.listed(f"/issues/{number}/comments"):
            if _is_of_bot(each):
                yield Comment(number=each["id"], body=each["body"] or "")

    def comment(self, number: int, body: str) -> None:
        """Add a comment to an issue or a pull request."""
        self._rest.send("POST", f"/issues/{number}/comments", {"body": body})

    def change_comment(self, number: int, body: str) -> None:
        """Change the text of a comment."""
        self._rest.send("PATCH", f"/issues/comments/{number}", {"body": body})

    def head(self, number: int) -> str:
        """The head commit of a pull request; "" where there is no such pull request."""
        found = self._rest.find(f"/pulls/{number}")
        return str(found["head"]["sha"]) if found else ""


def _is_of_bot(found: Mapping[str, Any]) -> bool:
    """Whether a bot wrote it; a deleted account is null here, and was somebody's."""
    return bool(found["user"]) and found["user"]["type"] == "Bot"
