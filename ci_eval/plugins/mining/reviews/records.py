"""The samples of the dataset code-review: review comments on GitHub with their diffs and natural languages."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from itertools import groupby
from typing import Any, Literal, NamedTuple
from urllib.parse import quote

import msgspec
from msgspec.structs import replace

from ci_eval.core.base.chance import draw
from ci_eval.core.grammar.document import NotText, decode
from ci_eval.core.grammar.syntax import Node, parse_tree
from ci_eval.plugins.mining.record import Line, assign_split, identity
from ci_eval.plugins.mining.reviews.api import Api
from ci_eval.plugins.mining.reviews.verdicts import DISAGREE, Answer, make_prompt, parse_verdict
from ci_eval.plugins.mining.sources import lines_of

REPOSITORY = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?/[A-Za-z0-9._-]+")
LONGEST = 70_000
"""The limit of a block's length, in characters."""

Source = Literal["line", "pull-request", "commit"]
"""The subject of a comment: lines of a pull request, a whole pull request, or a commit or one of its lines."""
Outcome = Literal[
    "kept",
    "other language",
    "on an issue",
    "several languages",
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


class Selection(msgspec.Struct, frozen=True, kw_only=True):
    languages: frozenset[str]
    limit: int = 200
    seed: int = 0
    sources: tuple[Source, ...] = ("line",)
    shares: tuple[int, int, int] = (0, 0, 100)
    """The percentages of repositories for training, validation and test."""
    verdicts: dict[str, str] = msgspec.field(default_factory=dict)
    only_accepted: bool = False


class Mined(msgspec.Struct):
    lines: list[Line] = msgspec.field(default_factory=list)
    undecided: list[Line] = msgspec.field(default_factory=list)
    outcomes: Counter[Outcome] = msgspec.field(default_factory=Counter)


class _Comment(msgspec.Struct, frozen=True):
    comment: dict[str, Any]
    source: Source
    first: int = 0
    last: int = 0
    """The first and last commented line (1-based) of the new file; 0 for a comment on a whole change."""

    @property
    def path(self) -> str:
        return str(self.comment.get("path") or "")

    @property
    def identity(self) -> str:
        number = str(self.comment["id"])
        # GitHub numbers each kind of comment separately, so the id needs the kind.
        return number if self.source == "line" else f"{self.source} {number}"


class _Change(msgspec.Struct, frozen=True):
    author: dict[str, Any]
    commit: str
    patches: dict[str, str]


class Repository:
    def __init__(self, api: Api, name: str) -> None:
        self.name, self._api = name, api
        root = f"/repos/{name}"
        self.pull = cache(lambda number: api.get(f"{root}/pulls/{number}"))
        self.commits = cache(lambda number: list(api.listed(f"{root}/pulls/{number}/commits")))
        self.commit = cache(lambda commit: api.get(f"{root}/commits/{commit}"))
        # (base, head) → path → patch, for the changes since `head` branched off `base`.
        self.patches = cache(lambda base, head: _patches_of(api.get(f"{root}/compare/{base}...{head}")))
        self.file = cache(lambda path, commit: api.raw(f"{root}/contents/{quote(path)}", ref=commit))

    def licence(self) -> str:
        """Return the SPDX identifier, or "" if GitHub does not know the licence."""
        fields = self._api.get(f"/repos/{self.name}").get("license") or {}
        licence = fields.get("spdx_id") or ""
        # GitHub calls an unknown licence NOASSERTION.
        return "" if licence == "NOASSERTION" else str(licence)

    def comments(self, source: Source) -> Iterator[dict[str, Any]]:
        if source == "commit":
            # GitHub cannot sort comments on commits.
            return self._api.listed(f"/repos/{self.name}/comments")
        path = "pulls/comments" if source == "line" else "issues/comments"
        return self._api.listed(f"/repos/{self.name}/{path}", sort="created", direction="asc")

    def text(self, path: str, commit: str) -> str:
        """Return the text of a file at a commit, or "" if the file is missing or binary."""
        data = self.file(path, commit)
        try:
            return decode(data) if data is not None else ""
        except NotText:
            return ""


def _patches_of(answer: dict[str, Any]) -> dict[str, str]:
    # GitHub gives no patch for binary or very large files.
    return {file["filename"]: file["patch"] for file in answer.get("files", []) if file.get("patch")}


def records(repository: Repository, licence: str, selection: Selection, answer: Answer | None = None) -> Mined:
    """Return the samples, sorted by the times of their comments. `answer` sends a prompt of `make_prompt` to a language
    model."""
    mined = Mined()
    waiting = []
    for source in selection.sources:
        for comment in repository.comments(source):
            candidate = _select_comment(comment, source, selection)
            if isinstance(candidate, str):
                mined.outcomes[candidate] += 1
            else:
                waiting.append(candidate)
    # So far, comments were only listed. Each comment needs further requests, so visit comments in random order until
    # there are enough samples.
    waiting.sort(key=lambda candidate: draw(selection.seed, f"{repository.name} {candidate.identity}"))
    known: set[str] = set()
    for candidate in waiting:
        if len(mined.lines) + len(mined.undecided) == selection.limit:
            mined.outcomes["not looked at"] += 1
            continue
        made = _line(candidate, repository, licence, selection)
        outcome = made if isinstance(made, str) else _decide(made, known, selection, answer)
        mined.outcomes[outcome] += 1
        if not isinstance(made, str) and outcome in {"kept", "not accepted yet"}:
            (mined.lines if outcome == "kept" else mined.undecided).append(made)
    mined.lines.sort(key=lambda line: (str(line.meta["createdAt"]), line.id))
    return mined


def _select_comment(comment: dict[str, Any], source: Source, selection: Selection) -> _Comment | Outcome:
    if source == "pull-request" and "/pull/" not in comment["html_url"]:
        return "on an issue"
    if path := comment.get("path"):
        language = find_language(path)
        if language is None or language.language not in selection.languages:
            return "other language"
    if comment.get("in_reply_to_id"):
        return "reply"
    if (comment.get("user") or {}).get("type") == "Bot":
        return "bot"
    body = comment.get("body") or ""
    if not body.strip():
        return "empty"
    if source != "line":
        # `_find_change` finds the line in the commit later.
        return "on no line" if path and not comment.get("position") else _Comment(comment, source)
    last = comment.get("original_line")
    if comment.get("subject_type") == "file" or not last:
        return "on no line"
    if comment.get("side") == "LEFT" or comment.get("start_side") == "LEFT":
        return "on removed lines"
    return _Comment(comment, source, comment.get("original_start_line") or last, last)


def _find_change(commented: _Comment, repository: Repository) -> _Change | None:
    """Return the change that the comment is about, or None if GitHub no longer has the commit."""
    comment = commented.comment
    if commented.source == "commit":
        commit = repository.commit(str(comment["commit_id"]))
        return _Change(commit.get("author") or {}, str(comment["commit_id"]), _patches_of(commit))
    address = comment["pull_request_url" if commented.source == "line" else "issue_url"]
    number = str(address).rpartition("/")[2]
    pull = repository.pull(number)
    if commented.source == "line":
        commit_id = str(comment["original_commit_id"])
    else:
        # Commits after the comment may be reactions to it, so use the last commit before it.
        dates = [(commit["commit"]["committer"]["date"], commit["sha"]) for commit in repository.commits(number)]
        before = [sha for date, sha in dates if date <= comment["created_at"]]
        if not before:
            return None
        commit_id = str(before[-1])
    return _Change(pull.get("user") or {}, commit_id, repository.patches(pull["base"]["sha"], commit_id))


def _line(commented: _Comment, repository: Repository, licence: str, selection: Selection) -> Line | Outcome:
    change = _find_change(commented, repository)
    if change is None:
        return "no diff"
    writer = commented.comment.get("user") or {}
    # Deleted accounts have no id, so two of them must not count as the same person.
    if writer.get("id") is not None and writer.get("id") == change.author.get("id"):
        return "author's own"
    path = commented.path
    if path:
        around = _block(commented, change, repository)
        if isinstance(around, str):
            return around
        block, more = around
    else:
        known = {path: language.language for path in change.patches if (language := find_language(path))}
        paths = sorted(path for path, language in known.items() if language in selection.languages)
        if not paths:
            return "other language" if change.patches else "no diff"
        if len({known[path] for path in paths}) > 1:
            return "several languages"
        path = ", ".join(paths)
        block = "".join(f"--- a/{path}\n+++ b/{path}\n{change.patches[path]}\n" for path in paths)
        more = {"diffBlockWithArrow": block, "block": "change", "fullDiff": block}
    if len(block) >= LONGEST:
        return "long block"
    comment = commented.comment
    blocks = find_language(path)
    name = blocks.language if blocks else ""
    reference = comment["body"].replace("\r\n", "\n").strip()
    return Line(
        # Case does not matter in names of repositories.
        id=identity("github", repository.name.lower(), commented.identity),
        cluster=repository.name,
        language=name,
        context={"diff_block": block, "language": name, "path": path},
        references=(reference,),
        meta={
            "project": f"github:{repository.name}",
            "licence": licence,
            "url": comment["html_url"],
            "source": commented.source,
            "commit": change.commit,
            "path": path,
            "createdAt": comment["created_at"],
            "split": assign_split(repository.name, selection.shares, selection.seed),
            **more,
        },
    )


def _block(commented: _Comment, change: _Change, repository: Repository) -> tuple[str, dict[str, object]] | Outcome:
    """Return the diff of the block around the commented lines, and the fields of `meta` about this block."""
    patch = change.patches.get(commented.path, "")
    if commented.source == "commit":
        line = line_at(patch, commented.comment["position"])
        if line is None:
            return "no diff"
        if line.sign == "-":
            return "on removed lines"
        commented = replace(commented, first=line.new, last=line.new)
    diff = parse(patch)
    hunk = next((line.hunk for line in diff if line.new == commented.last and line.sign != "-"), None)
    if hunk is None:
        return "no diff"
    text = repository.text(commented.path, change.commit)
    if not text or text.count("\n") + 1 < commented.last:
        return "no file"
    # The block is the function or class that contains the commented lines, or else the hunk with the last line.
    language = find_language(commented.path)
    around = innermost_block(text.encode(), language, commented.first, commented.last) if language else None
    if around:
        lines, kind = block_diff(diff, text.split("\n"), around.begin, around.end), around.kind
    else:
        lines, kind = [line for line in diff if line.hunk == hunk], "hunk"
    if not any(line.sign != " " for line in lines):
        return "no change in the block"
    return format_diff(lines), {
        "lines": (commented.first, commented.last),
        "diffBlockWithArrow": format_diff(lines, range(commented.first, commented.last + 1)),
        "block": kind,
        "fullDiff": patch,
    }


def _decide(line: Line, known: set[str], selection: Selection, answer: Answer | None) -> Outcome:
    same = identity(*line.context["diff_block"].split(), "", *line.references[0].split())
    if same in known:
        return "duplicate"
    known.add(same)
    decisions: dict[str, Outcome] = {"accept": "kept", "reject": "rejected", DISAGREE: "reviewers disagree"}
    if decided := decisions.get(selection.verdicts.get(line.id, "")):
        return decided
    if answer:
        verdict = parse_verdict(answer(make_prompt(line)))
        if verdict != "keep":
            return "no verdict" if verdict is None else "not self-contained"
    return "not accepted yet" if selection.only_accepted else "kept"


HUNK = re.compile(r"@@ -\d+(?:,\d+)? \+(\d+)(?:,\d+)? @@")
ARROW = "        <----------"


class DiffLine(msgspec.Struct, frozen=True):
    """A line of a diff. `sign` is `+`, `-` or a space."""

    sign: str
    text: str
    new: int
    """The line number (1-based) in the new file. For a removed line, it is the number of the next line."""
    hunk: int = 0

    def __str__(self) -> str:
        return f"{self.sign}{self.text}"


def parse(patch: str) -> list[DiffLine]:
    """Return the lines of all hunks."""
    diff: list[DiffLine] = []
    new, hunk = 0, 0
    for line in patch.split("\n"):
        if header := HUNK.match(line):
            new, hunk = int(header[1]), hunk + 1
        # Other lines, such as `\ No newline at end of file`, are not part of the file.
        elif hunk and line[:1] in {"+", "-", " "}:
            diff.append(DiffLine(line[0], line[1:], new, hunk))
            new += line[0] != "-"
    return diff


def line_at(patch: str, position: int) -> DiffLine | None:
    """Return the line at GitHub's `position` (1 is the line below the first header), or None for a header."""
    # GitHub also counts the headers of further hunks.
    # https://docs.github.com/en/rest/commits/comments#create-a-commit-comment
    upto = patch.split("\n")[: position + 1]
    is_line = len(upto) == position + 1 and upto[-1][:1] in {"+", "-", " "}
    return parse("\n".join(upto))[-1] if is_line else None


def block_diff(diff: Iterable[DiffLine], text: Sequence[str], begin: int, end: int) -> list[DiffLine]:
    """Return the lines `begin` to `end` (1-based, inclusive) of the new file, with the removed lines between them. The
    sign of lines that are not in the diff is a space."""
    by_line = {new: list(lines) for new, lines in groupby(diff, lambda line: line.new)}
    block_lines: list[DiffLine] = []
    for new in range(begin, end + 1):
        lines = by_line.get(new, [])
        block_lines += [line for line in lines if line.sign != "-" or new > begin]
        if not any(line.sign != "-" for line in lines):
            block_lines.append(DiffLine(" ", text[new - 1], new))
    removed = [line for line in by_line.get(end + 1, []) if line.sign == "-"]
    depth, *depths = (len(line) - len(line.lstrip()) for line in (text[begin - 1], *(line.text for line in removed)))
    # Removed lines after the block belonged to the block if they were indented more than its first line.
    return block_lines + [line for line, own in zip(removed, depths, strict=True) if own > depth]


def format_diff(lines: Iterable[DiffLine], arrows: range = range(0)) -> str:
    """Return the text of a diff. The lines of the new file whose numbers are in `arrows` get an arrow."""
    marks = ((line, ARROW if line.sign != "-" and line.new in arrows else "") for line in lines)
    return "".join(f"{line}{mark}\n" for line, mark in marks) or "\n"


class Blocks(NamedTuple):
    language: str
    functions: set[str]
    classes: set[str]


LANGUAGES = {
    ".py": Blocks("python", {"function_definition"}, {"class_definition"}),
    ".go": Blocks("go", {"function_declaration", "method_declaration"}, {"type_declaration"}),
    ".java": Blocks(
        "java",
        {"method_declaration", "constructor_declaration", "compact_constructor_declaration"},
        {"class_declaration", "interface_declaration", "enum_declaration", "record_declaration"},
    ),
    ".scala": Blocks(
        "scala",
        {"function_definition"},
        {"class_definition", "object_definition", "trait_definition", "enum_definition"},
    ),
}


class Block(NamedTuple):
    begin: int
    end: int
    kind: str


def find_language(path: str) -> Blocks | None:
    return next((blocks for end, blocks in LANGUAGES.items() if path.endswith(end)), None)


def innermost_block(source: bytes, language: Blocks, first: int, last: int) -> Block | None:
    """Return the innermost function or class that contains the lines `first` to `last`, or None."""
    block: Block | None = None
    whole: Node | None = None
    node: Node | None = parse_tree(source, language.language).root_node
    while node:
        kind = "function" if node.type in language.functions else "class" if node.type in language.classes else ""
        if kind:
            block = Block(*lines_of(source, whole or node), kind)
        whole = node if node.type == "decorated_definition" else None
        inner = node.child_by_field_name("definition") if whole else None
        ends = ((child, *lines_of(source, child)) for child in node.children)
        node = inner or next((child for child, begin, end in ends if begin <= first and last <= end), None)
    return block
