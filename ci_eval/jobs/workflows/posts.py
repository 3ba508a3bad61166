"""The texts that are posted at a CI: a nightly run's page, the issue about failed runs, comments on pull requests."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import msgspec
from msgspec.structs import replace

from ci_eval.ci import limits
from ci_eval.ci.gitlab import Project
from ci_eval.ci.host import shorten_text
from ci_eval.ci.repository import Issue, Repository, Run
from ci_eval.core.base import stored
from ci_eval.core.base.errors import ArchiveError, CiEvalError, ConfigError, WorkspaceError
from ci_eval.core.base.files import read_own
from ci_eval.core.catalogs import metrics
from ci_eval.core.manifest import commits_between
from ci_eval.core.model.units import amount, change
from ci_eval.rendering import plaintext
from ci_eval.rendering.markdowntext import code, prose, table

COMPARISON = "comparison.json"
ESCAPED = {ord(sign): f"&#{ord(sign)};" for sign in "&|[]<>`*_@\\"}
"""Characters that could end a table's cell, or begin a link, a tag, code or a mention."""
MARKS = {True: "🟢 kept", False: "🔴 broken"}
HEAD = ("| evaluation | metric | base | tonight | difference | verdict | gates |", "|---|---|---:|---:|---:|---|---|")


def page(repository: Repository, evaluations: Mapping[str, bool]) -> str:
    """Return the nightly run's Markdown page. `evaluations[name]` says whether it may fail. Raises DownloadError."""
    with tempfile.TemporaryDirectory() as temporary:
        lines = [
            line
            for name, may in sorted(evaluations.items())
            for line in _rows(repository, name, f"{_escape(name)}{' (may fail)' * may}", Path(temporary) / name)
        ]
    return "\n".join(["## ci-eval: the night", "", *HEAD, *lines, ""])


def _rows(repository: Repository, name: str, title: str, folder: Path) -> Iterator[str]:
    stored = repository.find_artifact(repository.run, f"comparison-{name}")
    if stored is None:
        yield _row(title, *[""] * 4, "🔴 ended before it was compared", "")
        return
    repository.fetch(stored, folder)
    linked = f"[{title}]({repository.page_of(stored)})"
    if not (folder / COMPARISON).is_file():
        yield _row(linked, *[""] * 4, "no base yet", "none judged")
        return
    compared = read_comparison(folder)
    # A comparison by an older ci-eval has no sides.
    if compared.get("sides", {}).get("new", {}).get("engine", {}).get("baseline"):
        linked += ", a baseline"
    # A comparison by an older ci-eval has no headline: it was about all sessions.
    leading = compared["filters"][compared.get("headline", "ALL")]
    for metric in compared["declared"][:1]:
        figures, known = leading["metrics"][metric], metrics.among([metric])
        unit = known[metric].unit if metric in known else ""
        texts = [amount(figures["base"], unit), amount(figures["new"], unit), change(figures["difference"], unit)]
        gates = MARKS[all(gate["passed"] for gate in compared["gates"])] if compared["gates"] else "none"
        yield _row(linked, *map(_escape, (metric, *texts, str(figures["verdict"]))), gates)
    yield from (_row(*[""] * 5, _escape(why), f"🔴 {_escape(rule)}") for rule, why in broken_gates(compared))


def broken_gates(compared: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield the rule of each broken gate, and the reason with the command that lists the commits."""
    sides = compared.get("sides", {})
    commits = commits_between(*(sides.get(side, {}).get("revision", "") for side in ("base", "new")))
    for gate in compared["gates"]:
        if not gate["passed"]:
            yield str(gate["rule"]), "; ".join(filter(None, (str(gate["reason"]), commits)))


def _row(*cells: str) -> str:
    return f"| {' | '.join(cells)} |"


def _escape(text: str) -> str:
    return plaintext.line(text).translate(ESCAPED)


def read_comparison(folder: Path) -> dict[str, Any]:
    try:
        return msgspec.json.decode(read_own(folder, COMPARISON), type=dict[str, Any])
    except (msgspec.DecodeError, OSError, RecursionError) as error:
        raise WorkspaceError(f"{folder / COMPARISON} cannot be read ({error}): download the artifact again") from None


GREEN = "success"
RED = ("failure", "timed_out", "startup_failure", "cancelled")
"""Results that count as failures, the most important first. A job that exceeds its `timeout-minutes` ends as
`cancelled`, which GitHub does not count as a failure (https://github.com/max-sixty/tend/pull/1023)."""
NEITHER = ("skipped", "neutral", "stale", "action_required")
PREFIX = "comparison-"
MOST_JOBS = 30
MARK = "<!-- ci-eval nights of {}: {} since run {} of {}, told of run {} -->"
MARKED = re.compile(MARK.format(r"(\d+)", "(red|green)", r"(\d+)", r"([\dTZ:-]{20})", r"(\d+)"))


class State(msgspec.Struct, frozen=True, kw_only=True):
    workflow: int
    is_red: bool
    since: int
    date: str
    newest: int

    @classmethod
    def first(cls, run: Run, *, is_red: bool) -> State:
        return cls(workflow=run.workflow, is_red=is_red, since=run.number, date=run.created, newest=run.number)

    def mark(self) -> str:
        return MARK.format(self.workflow, "red" if self.is_red else "green", self.since, self.date, self.newest)


def report_result(repository: Repository, result: str, number: int) -> str:
    """Open, change or close the issue for the workflow of run `number`. Return what was done, in one line.

    `result` is `needs.JOB.result`, or the run's conclusion. Runs of other branches change nothing, nor do runs older
    than the newest run in the issue. Raises ConfigError, DownloadError.
    """
    if result not in (GREEN, *RED, *NEITHER):
        raise ConfigError(f"{result!r} is not the result of a run: results are {', '.join((GREEN, *RED, *NEITHER))}")
    run = repository.read_run(number)
    if result in NEITHER:
        return f"nothing is posted: run {number} was {result}"
    if not run.of_default_branch:
        return f"nothing is posted: run {number} is not of the default branch"
    issues_of_workflow = []
    for issue in repository.list_bot_issues():
        if (match := MARKED.match(issue.body)) and int(match[1]) == run.workflow:
            _, color, since, date, newest = match.groups()
            state = State(workflow=run.workflow, is_red=color == "red", since=int(since), date=date, newest=int(newest))
            issues_of_workflow.append((issue, state))
    # Two jobs may each have opened an issue at the same time. The older issue is used.
    known = min(issues_of_workflow, key=lambda pair: pair[0].number, default=None)
    # A repeated or slow run may end after a newer one.
    if known and number < known[1].newest:
        return (
            f"nothing is posted: issue {known[0].number} already has run {known[1].newest}, and run {number} is older"
        )
    if result in RED:
        return _report_red(repository, run, result, known)
    if known is None or not known[1].is_red:
        return f"nothing is posted: run {run.number} is green, and so was the one before"
    issue, state = known
    period = f"{_spell_run(repository, state.since, state.date)} to {_spell_run(repository, state.newest)}"
    text = (
        f"{code(run.path)} is green again: {_spell_run(repository, run.number, run.created)}. It was red from {period}."
    )
    if issue.is_open:
        repository.comment(issue.number, text)
    repository.change_issue(issue.number, "\n".join((State.first(run, is_red=False).mark(), text)), is_open=False)
    return f"issue {issue.number} is closed"


def _report_red(repository: Repository, run: Run, result: str, known: tuple[Issue, State] | None) -> str:
    gates = []
    for artifact in repository.all_of_run(run.number, f"{PREFIX}*")[:MOST_JOBS]:
        name = prose(artifact.name.removeprefix(PREFIX))
        with tempfile.TemporaryDirectory() as temporary:
            try:
                folder = repository.fetch(artifact, Path(temporary) / "comparison")
                # On a first night there is no comparison.
                broken = list(broken_gates(read_comparison(folder))) if (folder / COMPARISON).is_file() else []
            except CiEvalError as error:
                # The issue is written even if an artifact cannot be read.
                broken = [("", str(error))]
        gates += [(name, rule and code(rule), prose(why, 300)) for rule, why in broken]
    first = known is None or not known[1].is_red
    state = State.first(run, is_red=True) if known is None or first else replace(known[1], newest=run.number)
    failed = sorted(
        (job for job in repository.jobs(run.number) if job.conclusion in RED), key=lambda job: RED.index(job.conclusion)
    )
    rows = []
    for job in failed[:MOST_JOBS]:
        name = prose(job.name) or "a job without a name"
        rows.append((f"[{name}]({job.page})" if job.page else name, prose(job.conclusion)))
    if len(failed) > MOST_JOBS:
        rows.append((f"and {len(failed) - MOST_JOBS} more", ""))
    lines = (
        state.mark(),
        f"{code(run.path)} is red since {_spell_run(repository, state.since, state.date)}.",
        f"The newest: {_spell_run(repository, run.number, run.created)} ended as {code(result)}.",
        "",
        *([table("", ("evaluation", "gate", "why"), gates), ""] if gates else []),
        table("", ("job", "ended as"), rows),
        "",
        "This issue is kept up to date, and closed when a run is green.",
    )
    body = "\n".join(lines)
    if known is None:
        return f"issue {repository.open_issue(f'ci-eval: {run.path} is red', body)} is opened"
    issue = known[0]
    if issue.is_open and issue.body == body:
        return f"issue {issue.number} is up to date"
    repository.change_issue(issue.number, body, is_open=True)
    return f"issue {issue.number} is {'brought up to date' if issue.is_open else 'opened again'}"


def _spell_run(repository: Repository, run: int, date: str = "") -> str:
    when = f" of {date[:16].replace('T', ' ')} UTC" if date else ""
    return f"[run {run}]({repository.page_of_run(run)}){when}"


ARTIFACT = "comparison"
MOST_COMMENTS = 10
WHEN = {"changed": "sessions changed or a gate broke", "always": "", "broken": "a gate broke"}
COUNTS = ("wins", "losses", "onlyBase", "onlyNew")
NUMBER, REPORT = "number.txt", "report.md"
MOST = 65_000
"""The maximum length of a comment in bytes; the limit of GitHub is 65,536 characters."""
MOST_READ = 16_000_000
_BLOCK = re.compile(r"(</?(?:details|summary)>)")
_KEPT = re.compile(r"((?<!`)`[^`]+`(?!`)|(?<!^)<code>(?:[A-Za-z0-9 /.]|&#\d+;)*</code>)")
"""Code as reports write it, which stays unchanged. Markdown is read even between tags, so only letters, digits and
numeric entities are allowed. A tag at the start of a line would begin a block without code formatting."""
_ACTIVE = {"&": "&amp;", "<": "&lt;", "[": "&#91;", "`": "&#96;", "\\": "&#92;"}
"""The characters that begin a tag, an entity, a link, an image or a definition. Reports only have them in code."""
_LINK = re.compile(r"(?<=:)(?=//)|(?<=www)(?=\.)", re.IGNORECASE)
_MENTION = re.compile(r"(?<=@)(?=[A-Za-z0-9])")


def post_all(repository: Repository, run: int, head: str, when: str = "always") -> Iterator[str]:
    """Post the comparisons of a run, and yield what was done. Raises DownloadError, WorkspaceError or ArchiveError."""
    artifacts = [
        artifact
        for artifact in repository.all_of_run(run, f"{ARTIFACT}*")
        if artifact.name == ARTIFACT or artifact.name.startswith(f"{ARTIFACT}-")
    ]
    if not artifacts:
        # This is not reported as an error, since the run that compares has failed itself.
        yield f"run {run} failed before it compared: nothing is posted"
    if len(artifacts) > MOST_COMMENTS:
        yield f"comparisons left out: {len(artifacts) - MOST_COMMENTS}, of {len(artifacts)}"
    damage: WorkspaceError | ArchiveError | None = None
    for artifact in artifacts[:MOST_COMMENTS]:
        with tempfile.TemporaryDirectory() as temporary:
            # The name is not trusted: the author of the run chose it.
            name = limits.name(artifact.name[len(ARTIFACT) + 1 :]) if artifact.name != ARTIFACT else ""
            try:
                yield post(repository, repository.fetch(artifact, Path(temporary) / ARTIFACT), head, name, when)
            except (WorkspaceError, ArchiveError) as error:
                # One damaged artifact must not hide the comments of the others.
                damage = error
                yield f"{limits.name(artifact.name)}: {error}"
    if damage:
        raise damage


def post(repository: Repository, folder: Path, head: str, name: str = "", when: str = "always") -> str:
    """Post the report as a comment, or update the comment if it exists. Return what was done, in one line.

    Each `name` has its own comment. `when` says whether a new comment is posted. The number of the pull request in the
    folder is not trusted: GitHub must say that its head is `head`. Only comments of bots are ever changed. Raises
    WorkspaceError, DownloadError.
    """
    text = stored.read(folder / NUMBER, MOST_READ).strip()
    if not re.fullmatch(rb"[0-9]{1,9}", text):
        raise WorkspaceError(f"{NUMBER} holds no number: the artifact is not the comparison of a pull request")
    number = int(text)
    # Otherwise an artifact could post its report on any pull request.
    if repository.head(number) != head:
        return f"the head of #{number} is not {head}: nothing is posted"
    mark = f"<!-- ci-eval {name} -->\n### {name}\n" if name else "<!-- ci-eval -->"
    address = repository.find_trend_site()
    trends = f"\n\n[Trends over the nights]({address})" if address else ""
    body = f"{mark}\n{_report(folder)}{trends}"
    existing = repository.find_bot_comment(number, body.partition("\n")[0])
    # Without a comparison, the comment is always posted.
    if not existing and when != "always" and (folder / COMPARISON).is_file():
        compared = read_comparison(folder)
        gates = compared.get("gates")
        # The artifact is not trusted: if a value has an unexpected type, it counts as a change.
        kept = isinstance(gates, list) and all(isinstance(gate, dict) and gate.get("passed") is True for gate in gates)
        if kept and (when != "changed" or all(compared.get(name) == 0 for name in COUNTS)):
            return f"nothing is posted on #{number}: a comment is posted only when {WHEN[when]}"
    if existing:
        repository.change_comment(existing, body)
    else:
        repository.comment(number, body)
    return f"the comment on #{number} is {'brought up to date' if existing else 'posted'}"


def note(project: Project, environment: Mapping[str, str], folder: Path) -> str:
    """Post or change the note on the merge request of a job at GitLab. Return what was done."""
    merge_request, name = (environment.get(f"CI_{which}", "") for which in ("MERGE_REQUEST_IID", "JOB_NAME"))
    if not merge_request:
        return "this pipeline does not belong to a merge request, so no note is written"
    was_there = project.note(merge_request, f"<!-- ci-eval {limits.name(name)} -->\n\n{_report(folder)}")
    return f"the note on !{merge_request} is {'brought up to date' if was_there else 'written'}"


def _report(folder: Path) -> str:
    """Return the report of a comparison as harmless Markdown of at most MOST bytes."""
    text = stored.read(folder / REPORT, MOST_READ).decode("utf-8", "replace")
    return shorten_text(harmless(text), MOST)


def harmless(report: str) -> str:
    """Return a report with no tags but its own, and without links, images, definitions, mentions and hidden text."""
    lines = []
    for line in report.replace("\t", " ").splitlines():
        # A line with such a tag begins a block, up to the next empty line, in which nothing is code.
        is_block = _BLOCK.search(line) is not None
        # Every second part was matched by the pattern, and stays unchanged.
        parts = (_BLOCK if is_block else _KEPT).split(line)
        for index, part in enumerate(parts[::2]):
            # GitHub also turns plain text into links and mentions. A zero-width space prevents that.
            plain = "".join(_ACTIVE.get(sign, sign) for sign in part)
            parts[2 * index] = _MENTION.sub("\u200b", _LINK.sub("\u200b", plain))
        lines.append("".join(parts) + "\n" * is_block)
    return "\n".join(lines)
