"""The samples that the review comments of a repository at GitHub make."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any, Literal
from urllib.parse import quote

from ci_eval.core.base.chance import draw
from ci_eval.core.grammar.document import NotText, decode
from ci_eval.plugins.mining.record import Line, identity
from ci_eval.plugins.mining.reviews.api import Api
from ci_eval.plugins.mining.reviews.blocks import Block, find_language, innermost_block
from ci_eval.plugins.mining.reviews.diffs import DiffLine, add_arrows, block_diff, format_diff, parse
from ci_eval.plugins.mining.reviews.filtering import Answer, make_prompt, parse_verdict
from ci_eval.plugins.mining.reviews.human import DISAGREE

REPOSITORY = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?/[A-Za-z0-9._-]+")
LONGEST = 70_000
"""Characters of a block; it has fewer."""

Fate = Literal[
    "kept",
    "other language",
    "reply",
    "bot",
    "author's own",
    "empty",
    "on no line",
    "on removed lines",
    "no diff",
    "no file",
    "no change in the block",
    "long block",
    "duplicate",
    "not self-contained",
    "no verdict",
    "rejected",
    "reviewers disagree",
    "not accepted yet",
    "not looked at",
]
"""Outcome of a comment; every comment has one."""


@dataclass(frozen=True, kw_only=True)
class Selection:
    """The criteria by which comments become samples."""

    languages: frozenset[str]
    limit: int = 200
    """The most samples of one repository."""
    seed: int = 0
    since: str = ""
    """Time (ISO 8601) since which a comment must have changed."""
    shares: tuple[int, int, int] = (0, 0, 100)
    """Per cent of the repositories for training, validation and test."""
    verdicts: dict[str, str] = field(default_factory=dict)
    """Verdicts of people: id → accept, reject or disagree."""
    only_accepted: bool = False


@dataclass
class Mined:
    """The samples of a repository, and the outcome of each of its comments."""

    lines: list[Line] = field(default_factory=list)
    undecided: list[Line] = field(default_factory=list)
    """Samples that would count if people accepted them."""
    fates: Counter[Fate] = field(default_factory=Counter)


@dataclass(frozen=True)
class _Commented:
    """A comment, and the lines of the new file that it is on."""

    comment: dict[str, Any]
    first: int
    last: int

    @property
    def path(self) -> str:
        return str(self.comment["path"])

    @property
    def commit(self) -> str:
        return str(self.comment["original_commit_id"])


class Repository:
    """A repository at GitHub, whose parts are each requested once."""

    def __init__(self, api: Api, name: str) -> None:
        self.name, self._api = name, api
        self.pull = cache(self._pull)
        self.patches = cache(self._patches)
        self.file = cache(self._file)

    def licence(self) -> str:
        """Return the licence as an SPDX identifier, or an empty string if GitHub knows none."""
        fields = self._api.get(f"/repos/{self.name}").get("license") or {}
        licence = fields.get("spdx_id") or ""
        # GitHub says NOASSERTION of a licence that it does not know.
        return "" if licence == "NOASSERTION" else str(licence)

    def comments(self, since: str) -> Iterator[dict[str, Any]]:
        """Yield all review comments, the oldest first."""
        query = {"since": since} if since else {}
        return self._api.listed(f"/repos/{self.name}/pulls/comments", sort="created", direction="asc", **query)

    def _pull(self, number: str) -> dict[str, Any]:
        pull: dict[str, Any] = self._api.get(f"/repos/{self.name}/pulls/{number}")
        return pull

    def _patches(self, base: str, head: str) -> dict[str, str]:
        """Return the patch of each path that changed since `head` left `base`."""
        comparison = self._api.get(f"/repos/{self.name}/compare/{base}...{head}")
        # GitHub gives no patch of binary files and of very large ones.
        return {file["filename"]: file["patch"] for file in comparison.get("files", []) if file.get("patch")}

    def _file(self, path: str, commit: str) -> bytes | None:
        return self._api.raw(f"/repos/{self.name}/contents/{quote(path)}", ref=commit)


def records(repository: Repository, licence: str, selection: Selection, answer: Answer | None = None) -> Mined:
    """Return samples from the repository's review comments, in the order in which the comments were written.

    `answer` asks a language model whether a comment can be understood from the change alone.
    """
    mined = Mined()
    waiting = []
    for comment in repository.comments(selection.since):
        candidate = _locate_comment(comment, selection)
        if isinstance(candidate, str):
            mined.fates[candidate] += 1
        else:
            waiting.append(candidate)
    # Outcomes that need no further request come first; the others are requested in random order until there are enough.
    waiting.sort(key=lambda candidate: draw(selection.seed, f"{repository.name} {candidate.comment['id']}"))
    known: set[str] = set()
    for candidate in waiting:
        if len(mined.lines) + len(mined.undecided) == selection.limit:
            mined.fates["not looked at"] += 1
            continue
        made = _line(candidate, repository, licence, selection)
        fate = made if isinstance(made, str) else _decide(made, known, selection, answer)
        mined.fates[fate] += 1
        if not isinstance(made, str) and fate in {"kept", "not accepted yet"}:
            (mined.lines if fate == "kept" else mined.undecided).append(made)
    mined.lines.sort(key=lambda line: (str(line.meta["createdAt"]), line.id))
    return mined


def _locate_comment(comment: dict[str, Any], selection: Selection) -> _Commented | Fate:
    """Return the commented lines, or why the comment itself makes no sample."""
    language = find_language(comment["path"])
    if language is None or language.language not in selection.languages:
        return "other language"
    if comment.get("in_reply_to_id"):
        return "reply"
    if (comment.get("user") or {}).get("type") == "Bot":
        return "bot"
    if not comment["body"].strip():
        return "empty"
    last = comment.get("original_line")
    if comment.get("subject_type") == "file" or not last:
        return "on no line"
    if comment.get("side") == "LEFT" or comment.get("start_side") == "LEFT":
        return "on removed lines"
    return _Commented(comment, comment.get("original_start_line") or last, last)


def _line(commented: _Commented, repository: Repository, licence: str, selection: Selection) -> Line | Fate:
    number = commented.comment["pull_request_url"].rpartition("/")[2]
    pull = repository.pull(number)
    writer, author = (side.get("user") or {} for side in (commented.comment, pull))
    # Deleted accounts have no id, and two of them may be different people.
    if writer.get("id") is not None and writer.get("id") == author.get("id"):
        return "author's own"
    patch = repository.patches(pull["base"]["sha"], commented.commit).get(commented.path, "")
    diff = parse(patch)
    if not any(line.new == commented.last and line.sign != "-" for line in diff):
        return "no diff"
    data = repository.file(commented.path, commented.commit)
    try:
        text = decode(data) if data is not None else ""
    except NotText:
        return "no file"
    if text.count("\n") + 1 < commented.last:
        return "no file"
    lines, kind = _commented_diff(commented, text, diff)
    if not any(line.sign != " " for line in lines):
        return "no change in the block"
    if len(format_diff(lines)) >= LONGEST:
        return "long block"
    return _record(commented, repository, licence, selection, lines, {"block": kind, "fullDiff": patch})


def _commented_diff(commented: _Commented, text: str, diff: Sequence[DiffLine]) -> tuple[list[DiffLine], str]:
    """Return the function or class with the commented lines, as a diff. Outside of any, return the hunk with the last
    of them."""
    language = find_language(commented.path)
    block: Block | None = (
        innermost_block(text.encode(), language, commented.first, commented.last) if language else None
    )
    if block:
        return block_diff(diff, text.split("\n"), block.begin, block.end), block.kind
    hunk = next(line.hunk for line in diff if line.new == commented.last and line.sign != "-")
    return [line for line in diff if line.hunk == hunk], "hunk"


def _record(
    commented: _Commented,
    repository: Repository,
    licence: str,
    selection: Selection,
    lines: Sequence[DiffLine],
    more: dict[str, object],
) -> Line:
    comment, language, block = commented.comment, find_language(commented.path), format_diff(lines)
    name = language.language if language else ""
    return Line(
        # Names of repositories ignore case.
        id=identity("github", repository.name.lower(), str(comment["id"])),
        cluster=repository.name,
        language=name,
        context={"diff_block": block, "language": name, "path": commented.path},
        references=(comment["body"].replace("\r\n", "\n").strip(),),
        meta={
            "project": f"github:{repository.name}",
            "licence": licence,
            "url": comment["html_url"],
            "commit": commented.commit,
            "path": commented.path,
            "lines": (commented.first, commented.last),
            "createdAt": comment["created_at"],
            "split": assign_split(repository.name, selection),
            "diffBlockWithArrow": add_arrows(lines, commented.first, commented.last),
            **more,
        },
    )


def assign_split(repository: str, selection: Selection) -> str:
    """Return the split of a repository."""
    # A whole repository is in one split, since its samples resemble each other.
    training, validation, _ = selection.shares
    drawn = 100 * draw(selection.seed, f"split {repository.lower()}")
    return "train" if drawn < training else "validation" if drawn < training + validation else "test"


def _decide(line: Line, known: set[str], selection: Selection, answer: Answer | None) -> Fate:
    """Return the outcome that people decided on, or else the language model."""
    same = identity(*line.context["diff_block"].split(), "", *line.references[0].split())
    if same in known:
        return "duplicate"
    known.add(same)
    decided = selection.verdicts.get(line.id)
    if decided == "accept":
        return "kept"
    if decided == "reject":
        return "rejected"
    if decided == DISAGREE:
        return "reviewers disagree"
    if answer:
        verdict = parse_verdict(answer(make_prompt(line)))
        if verdict != "keep":
            return "no verdict" if verdict is None else "not self-contained"
    return "not accepted yet" if selection.only_accepted else "kept"
