"""The notices of failed nightly runs: one issue for each workflow file, which stays open as long as its runs fail."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from ci_eval.ci.repository import Issue, Issues, Repository, Rest, Run, list_jobs, read_run
from ci_eval.core.base.errors import CiEvalError, ConfigError
from ci_eval.core.rendering.markdowntext import code, prose, table
from ci_eval.jobs.workflows.summary import COMPARISON, broken_gates, read_comparison

GREEN = "success"
RED = ("failure", "timed_out", "startup_failure", "cancelled")
"""The conclusions that count as failed, the most telling first. A job that exceeds its `timeout-minutes` ends as
`cancelled`, which GitHub does not count as failure (https://github.com/max-sixty/tend/pull/1023), so that nobody would
be notified."""
NEITHER = ("skipped", "neutral", "stale", "action_required")
PREFIX = "comparison-"
"""The beginning of the names of artifacts with comparisons."""
MOST_JOBS = 30
"""The most rows of the table of jobs; jobs beyond that are only counted."""
MARK = "<!-- ci-eval nights of {}: {} since run {} of {}, told of run {} -->"
MARKED = re.compile(MARK.format(r"(\d+)", "(red|green)", r"(\d+)", r"([\dTZ:-]{20})", r"(\d+)"))


@dataclass(frozen=True, kw_only=True)
class State:
    workflow: int
    is_red: bool
    since: int
    """The first run with this result."""
    date: str
    told: int
    """The newest run that the issue tells of."""

    @classmethod
    def first(cls, run: Run, *, is_red: bool) -> State:
        return cls(workflow=run.workflow, is_red=is_red, since=run.number, date=run.created, told=run.number)

    def mark(self) -> str:
        return MARK.format(self.workflow, "red" if self.is_red else "green", self.since, self.date, self.told)


Known = tuple[Issue, State] | None
Gate = tuple[str, str, str]


def tell(rest: Rest, result: str, number: int, repository: Repository | None = None) -> str:
    """Open, change or close the issue for the workflow of run `number`. Return what was done, in one line.

    `result`: the result of the run, from `needs.JOB.result` or its conclusion. `repository` has the comparisons whose
    broken gates the issue names. Runs of other branches change nothing, nor do runs that are older than the issue's
    newest. Raises ConfigError, DownloadError.
    """
    if result not in (GREEN, *RED, *NEITHER):
        raise ConfigError(f"{result!r} is no result of a run: it is one of {', '.join((GREEN, *RED, *NEITHER))}")
    run = read_run(rest, number)
    if result in NEITHER:
        return f"nothing is told: run {number} was {result}"
    if not run.of_default_branch:
        return f"nothing is told: run {number} is not of the default branch"
    issues = Issues(rest)
    known = _find_issue(issues, run)
    # A repeated or slow run may end after a newer one.
    if known and number < known[1].told:
        return f"nothing is told: issue {known[0].number} knows of run {known[1].told}, and run {number} is older"
    if result in RED:
        gates = list(_broken_gates(repository, number)) if repository else []
        return _report_red(rest, issues, run, result, known, gates)
    return _report_green(rest, issues, run, known)


def _broken_gates(repository: Repository, run: int) -> Iterator[Gate]:
    """Yield evaluation, rule and figure, as Markdown, of each gate that is broken in the comparisons of a run."""
    for artifact in repository.all_of_run(run, f"{PREFIX}*")[:MOST_JOBS]:
        name = prose(artifact.name.removeprefix(PREFIX))
        with tempfile.TemporaryDirectory() as temporary:
            try:
                folder = repository.fetch(artifact, Path(temporary) / "comparison")
                # On a first night there is none.
                gates = list(broken_gates(read_comparison(folder))) if (folder / COMPARISON).is_file() else []
            except CiEvalError as error:
                # The notice must be written all the same.
                gates = [("", str(error))]
        yield from ((name, rule and code(rule), prose(why, 300)) for rule, why in gates)


def _find_issue(issues: Issues, run: Run) -> Known:
    """Return the issue of the run's workflow with its state, the oldest of several; None if there is none."""
    issues_of_workflow = []
    for issue in issues.list_bot_issues():
        if (match := MARKED.match(issue.body)) and int(match[1]) == run.workflow:
            _, color, since, date, newest = match.groups()
            state = State(workflow=run.workflow, is_red=color == "red", since=int(since), date=date, told=int(newest))
            issues_of_workflow.append((issue, state))
    # Two jobs may have opened an issue each at once; the oldest one stays in use.
    return min(issues_of_workflow, key=lambda pair: pair[0].number, default=None)


def _report_red(rest: Rest, issues: Issues, run: Run, result: str, known: Known, gates: Sequence[Gate]) -> str:
    first = known is None or not known[1].is_red
    state = State.first(run, is_red=True) if known is None or first else replace(known[1], told=run.number)
    body = "\n".join((state.mark(), *_describe_failure(rest, run, result, state, gates)))
    if known is None:
        return f"issue {issues.begin(f'ci-eval: {run.path} is red', body)} is opened"
    issue = known[0]
    if issue.is_open and issue.body == body:
        return f"issue {issue.number} says so already"
    issues.change(issue.number, body, is_open=True)
    return f"issue {issue.number} is {'brought up to date' if issue.is_open else 'opened again'}"


def _describe_failure(rest: Rest, run: Run, result: str, state: State, gates: Sequence[Gate]) -> Sequence[str]:
    failed = sorted(
        (job for job in list_jobs(rest, run.number) if job.conclusion in RED), key=lambda job: RED.index(job.conclusion)
    )
    rows = []
    for job in failed[:MOST_JOBS]:
        name = prose(job.name) or "a job without a name"
        rows.append((f"[{name}]({job.page})" if job.page else name, prose(job.conclusion)))
    if len(failed) > MOST_JOBS:
        rows.append((f"and {len(failed) - MOST_JOBS} more", ""))
    return (
        f"{code(run.path)} is red since {_spell_run(rest, state.since, state.date)}.",
        f"The newest: {_spell_run(rest, run.number, run.created)} ended as {code(result)}.",
        "",
        *([table("", ("evaluation", "gate", "why"), gates), ""] if gates else []),
        table("", ("job", "ended as"), rows),
        "",
        "This issue is kept up to date, and closed when a run is green.",
    )


def _report_green(rest: Rest, issues: Issues, run: Run, known: Known) -> str:
    if known is None or not known[1].is_red:
        return f"nothing is told: run {run.number} is green, and so was the one before"
    issue, state = known
    since = f"{_spell_run(rest, state.since, state.date)} to {_spell_run(rest, state.told)}"
    text = f"{code(run.path)} is green again: {_spell_run(rest, run.number, run.created)}. It was red from {since}."
    if issue.is_open:
        issues.comment(issue.number, text)
    issues.change(issue.number, "\n".join((State.first(run, is_red=False).mark(), text)), is_open=False)
    return f"issue {issue.number} is closed"


def _spell_run(rest: Rest, run: int, date: str = "") -> str:
    """Return a link to a run, with its date, as Markdown."""
    when = f" of {date[:16].replace('T', ' ')} UTC" if date else ""
    return f"[run {run}]({rest.page_of(run)}){when}"
