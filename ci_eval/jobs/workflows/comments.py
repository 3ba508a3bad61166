"""The comment on a pull request with its comparison, from an artifact that may be hostile."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path

from ci_eval.ci import limits
from ci_eval.ci.gitlab import Project
from ci_eval.ci.host import shorten_text
from ci_eval.ci.repository import Issues, Repository, Rest, find_trend_site
from ci_eval.core.base import stored
from ci_eval.core.base.errors import ArchiveError, WorkspaceError
from ci_eval.jobs.workflows.summary import COMPARISON, read_comparison

ARTIFACT = "comparison"
"""The artifact with a comparison; others are called `comparison-NAME`."""
MOST_COMMENTS = 10
"""The most comparisons of a run that are posted."""
WHEN = {"changed": "sessions changed or a gate broke", "always": "", "broken": "a gate broke"}
"""When a comment is begun → the reason in words."""
COUNTS = ("wins", "losses", "onlyBase", "onlyNew")
NUMBER, REPORT = "number.txt", "report.md"
MOST = 65_000
"""The bytes of the longest comment; GitHub takes 65,536 characters."""
MOST_READ = 16_000_000
"""The bytes of the largest file that is read."""
_BLOCK = re.compile(r"</?(?:details|summary)>")
_KEPT = re.compile(r"(?<!`)`[^`]+`(?!`)|(?<!^)<code>(?:[A-Za-z0-9 /.]|&#\d+;)*</code>")
"""The parts of a line that stay as they are: code, as reports write it. Between tags, Markdown is still read, so only
letters and numbered signs are allowed there. A tag at the start of a line would begin a block in which nothing is code.
"""
_ACTIVE = {"&": "&amp;", "<": "&lt;", "[": "&#91;", "`": "&#96;", "\\": "&#92;"}
"""The signs that begin a tag, an entity, a link, an image or a definition of links. Outside of code, reports have
none."""
_LINK = re.compile(r"(?<=:)(?=//)|(?<=www)(?=\.)", re.IGNORECASE)
_MENTION = re.compile(r"(?<=@)(?=[A-Za-z0-9])")


def post_all(repository: Repository, rest: Rest, run: int, head: str, when: str = "always") -> Iterator[str]:
    """Post a comment for each comparison that a run left, or change it. Yield what was done, a line each. `when`: see
    `_is_worth_a_comment`. Raises DownloadError; raises WorkspaceError or ArchiveError at the end, if an artifact is
    damaged."""
    artifacts = [
        artifact
        for artifact in repository.all_of_run(run, f"{ARTIFACT}*")
        if artifact.name == ARTIFACT or artifact.name.startswith(f"{ARTIFACT}-")
    ]
    if not artifacts:
        # Its run is red itself.
        yield f"run {run} failed before it compared: nothing is posted"
    if len(artifacts) > MOST_COMMENTS:
        yield f"{len(artifacts) - MOST_COMMENTS} more are left out"
    damage: WorkspaceError | ArchiveError | None = None
    for artifact in artifacts[:MOST_COMMENTS]:
        with tempfile.TemporaryDirectory() as temporary:
            # The run's author chose the name.
            name = limits.name(artifact.name[len(ARTIFACT) + 1 :]) if artifact.name != ARTIFACT else ""
            try:
                yield post(rest, repository.fetch(artifact, Path(temporary) / ARTIFACT), head, name, when)
            except (WorkspaceError, ArchiveError) as error:
                # One damaged artifact must not hide the comments of the others.
                damage = error
                yield f"{limits.name(artifact.name)}: {error}"
    if damage:
        raise damage


def post(rest: Rest, folder: Path, head: str, name: str = "", when: str = "always") -> str:
    """Post the report in `folder` as a comment, or change the existing comment. Return what was done, in one line.

    A comment that is there is brought up to date in any case, since it would be wrong otherwise.

    `name` tells several comparisons of a pull request apart: each has a comment of its own. The number of the pull
    request in the folder is not trusted: GitHub must say that its head is the commit `head`. Only comments of bots are
    ever changed. Raises WorkspaceError, DownloadError.
    """
    number = _number(folder)
    issues = Issues(rest)
    # Otherwise an artifact could post its report on any pull request.
    if issues.head(number) != head:
        return f"#{number} is not at {head}: nothing is posted"
    mark = f"<!-- ci-eval {name} -->\n### {name}\n" if name else "<!-- ci-eval -->"
    address = find_trend_site(rest)
    trends = f"\n\n[Trends over the nights]({address})" if address else ""
    body = f"{mark}\n{_report(folder)}{trends}"
    start = body.partition("\n")[0]
    existing = next((comment for comment in issues.comments_of_bots(number) if comment.body.startswith(start)), None)
    if not existing and not _is_worth_a_comment(folder, when):
        return f"nothing is posted on #{number}: it is said only when {WHEN[when]}"
    if existing:
        issues.change_comment(existing.number, body)
    else:
        issues.comment(number, body)
    return f"the comment on #{number} is {'brought up to date' if existing else 'posted'}"


def _is_worth_a_comment(folder: Path, when: str) -> bool:
    """Return whether a comparison is one that `when` (a key of WHEN) asks for. A report without one is."""
    if when == "always" or not (folder / COMPARISON).is_file():
        return True
    compared = read_comparison(folder)
    gates = compared.get("gates")
    # A foreign artifact may hold anything, which is then a change.
    is_kept = isinstance(gates, list) and all(isinstance(gate, dict) and gate.get("passed") is True for gate in gates)
    return not is_kept or (when == "changed" and any(compared.get(name) != 0 for name in COUNTS))


def note(project: Project, environment: Mapping[str, str], folder: Path) -> str:
    """Write the report in `folder` on the merge request of a job at GitLab, or change the job's note. Return what was
    done, in one line."""
    merge_request, name = (environment.get(f"CI_{which}", "") for which in ("MERGE_REQUEST_IID", "JOB_NAME"))
    if not merge_request:
        return "this pipeline is of no merge request: nothing is written"
    was_there = project.note(merge_request, f"<!-- ci-eval {limits.name(name)} -->\n\n{_report(folder)}")
    return f"the note on !{merge_request} is {'brought up to date' if was_there else 'written'}"


def _number(folder: Path) -> int:
    text = stored.read(folder / NUMBER, MOST_READ).strip()
    if not re.fullmatch(rb"[0-9]{1,9}", text):
        raise WorkspaceError(f"{NUMBER} holds no number: the artifact is not one of a pull request's comparison")
    return int(text)


def _report(folder: Path) -> str:
    """Return the text of the report, changed so that it hides nothing and mentions nobody."""
    text = stored.read(folder / REPORT, MOST_READ).decode("utf-8", "replace")
    return shorten_text(harmless(text), MOST)


def harmless(report: str) -> str:
    """Return a report without tags but its own, links, images, definitions, mentions and hidden text."""
    return "\n".join(map(_harmless_line, report.replace("\t", " ").splitlines()))


def _harmless_line(line: str) -> str:
    if _BLOCK.search(line):
        # Up to the next empty line such a line begins a block in which nothing is code.
        parts = _split(_BLOCK, line)
        return "".join(part if is_tag else _disarm(part) for part, is_tag in parts) + "\n"
    return "".join(part if is_code else _disarm(part) for part, is_code in _split(_KEPT, line))


def _split(pattern: re.Pattern[str], line: str) -> Iterator[tuple[str, bool]]:
    """Yield the parts of a line in order, each with whether the pattern matches it."""
    end = 0
    for match in pattern.finditer(line):
        yield line[end : match.start()], False
        yield match[0], True
        end = match.end()
    yield line[end:], False


def _disarm(text: str) -> str:
    # GitHub makes links and mentions of plain text, too: an invisible space prevents that.
    plain = "".join(_ACTIVE.get(sign, sign) for sign in text)
    return _MENTION.sub("\u200b", _LINK.sub("\u200b", plain))
