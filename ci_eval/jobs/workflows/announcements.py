"""Announcements of a job's result, for the CI in which the job runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec

from ci_eval.ci import Announcement, Check, limits
from ci_eval.core.base.errors import CiEvalError
from ci_eval.core.model import Lines, Suite
from ci_eval.core.model.report import Cases
from ci_eval.core.workspace import Workspace
from ci_eval.jobs.compare import Outcome
from ci_eval.jobs.pipeline import Done, Evaluated
from ci_eval.jobs.workflows.plan import PlannedJob
from ci_eval.rendering.answers import status
from ci_eval.rendering.blocks import to_markdown
from ci_eval.rendering.figures import describe_sessions, format_count, shown_filter
from ci_eval.rendering.results import cases_blocks


def evaluation(done: Evaluated) -> Announcement:
    result = done.result
    _, figures = shown_filter(result)
    # Figures of the leading filter replace those over all sessions.
    shown = result.filters["ALL"].metrics | figures.metrics
    return _announcement(
        status=status(result) or describe_sessions(result),
        place=("workspace", done.folder),
        reports=done.reports,
        verdict="failed" if done.trouble else "ok",
        statistics={metric: figure.value for metric, figure in shown.items() if figure.value is not None},
        checks=[Check(name=gate.rule, passed=gate.passed, reason=gate.reason) for gate in result.gates],
    )


def suite(done: Done[Suite]) -> Announcement:
    table = done.result
    means = {name: figure.mean for name, figure in table.overall.items() if figure.mean is not None}
    return _announcement(
        status=f"{table.title}: {format_count(len(table.projects), 'project')}",
        place=("comparison" if table.compared else "workspace", done.folder),
        reports=done.reports,
        verdict="failed" if done.trouble else "ok",
        statistics={f"difference.{name}" if table.compared else name: mean for name, mean in means.items()},
        checks=[
            Check(name=f"{of.project.name} {of.project.revision}", passed=not of.trouble, reason=of.trouble)
            for of in table.projects
        ],
    )


def _announcement(
    *,
    status: str,
    place: tuple[str, Path],
    reports: Mapping[str, Path],
    verdict: str,
    statistics: Mapping[str, float],
    checks: Sequence[Check],
    history: Path | None = None,
) -> Announcement:
    """`place` is the name of an output variable of the CI, and its value, the folder of the results."""
    name, folder = place
    return Announcement(
        status=status,
        summary=_read_text(reports.get("markdown")),
        outputs={name: folder, "report": reports.get("html"), "metrics": reports.get("json"), "verdict": verdict},
        statistics=statistics,
        checks=checks,
        artifacts=[folder, *([history] if history else [])],
    )


def logs(workspace: Workspace, trouble: CiEvalError | None) -> Announcement:
    folder, manifest = workspace.folder, workspace.manifest()
    record = manifest.logs
    rows = {side: side_record.rows for side, side_record in record.sides.items()} if record else {}
    return Announcement(
        status=f"logs: {sum(rows.values()):,} rows",
        outputs={
            "workspace": folder,
            "logs": folder / "logs",
            "artifact": limits.name(f"logs {manifest.project.spec}"),
            "verdict": "failed" if trouble else "ok",
        },
        statistics={f"rows.{side}": float(count) for side, count in rows.items()},
        artifacts=[folder],
    )


def plan(matrix: str, jobs: Sequence[PlannedJob]) -> Announcement:
    names = {job.evaluation: job.allow_failure for job in sorted(jobs, key=lambda job: job.evaluation)}
    rankers = {job.ranker: job.allow_failure for job in sorted(jobs, key=lambda job: job.ranker)}

    def matrix_of(key: str, marked: Mapping[str, bool]) -> str:
        included = [{key: name, "allowFailure": may} for name, may in marked.items()]
        return msgspec.json.encode({"include": included}).decode()

    shared = {job.evaluation: job.allow_failure for job in jobs if job.shards > 1}
    outputs = {
        "matrix": matrix,
        # An evaluation that runs in one job has nothing to merge.
        "merges": matrix_of("evaluation", shared) if shared else "",
        "evaluations": msgspec.json.encode(list(names)).decode(),
        "each-evaluation": matrix_of("evaluation", names),
        "rankers": matrix_of("ranker", rankers),
        "group": limits.name(" ".join(names)),
    }
    return Announcement(
        status=f"{format_count(len(jobs), 'job')}, {format_count(len(names), 'evaluation')}", outputs=outputs
    )


def comparison(done: Outcome, history: Path | None = None) -> Announcement:
    """Announce the verdicts in one line, gates as checks, and each broken gate as a problem."""
    first = done.comparisons[0] if done.comparisons else None
    statistics: dict[str, float] = {}
    if first:
        run = first.comparison
        figures = {name: run.filters[run.headline][name].difference for name in run.declared}
        statistics = {f"difference.{name}": figure or 0.0 for name, figure in figures.items() if figure is not None}
    verdicts = "; ".join(status(compared.comparison) for compared in done.comparisons)
    return _announcement(
        status=verdicts or "no evaluation to compare with yet",
        place=("comparison", done.folder),
        reports=done.reports or (first.reports if first else {}),
        verdict=verdict(done),
        statistics=statistics,
        checks=_checks(done),
        history=history,
    )


def cases(done: Cases, output: Path | None, reports: Mapping[str, Path]) -> Announcement:
    checks = [Check(name=case.name, passed=not case.reasons, reason="; ".join(case.reasons)) for case in done.cases]
    return Announcement(
        status=f"{done.title}: {done.broken:,} of {format_count(len(done.cases), 'case')} broken",
        summary=f"{to_markdown(cases_blocks(done))}\n",
        outputs={"cases": output, "report": reports.get("html"), "verdict": "gate-failed" if done.broken else "ok"},
        checks=checks,
        artifacts=[output] if output else [],
    )


def ranking(done: Done[dict[str, Outcome]], history: Path | None) -> Announcement:
    named = [(name, check) for name, outcome in done.result.items() for check in _checks(outcome)]
    checks = [Check(name=f"{name}: {check.name}", passed=check.passed, reason=check.reason) for name, check in named]
    leaders = []
    for name, outcome in done.result.items():
        table = outcome.overview.ranking if outcome.overview else None
        text = f": {table.sides[0].title} first of {len(table.sides)} by {table.declared[0]}" if table else ""
        leaders.append(f"{name}{text}{', not shown to be better' if table and not table.ahead[0] else ''}")
    texts = [_read_text(outcome.reports.get("markdown")) for outcome in done.result.values()]
    return Announcement(
        status="; ".join(leaders) or "nothing to rank",
        summary="\n".join(texts),
        outputs={"ranking": done.folder if done.result else None, "verdict": "gate-failed" if done.trouble else "ok"},
        checks=checks,
        artifacts=[*([done.folder] if done.result else []), *([history] if history else [])],
    )


def _checks(done: Outcome) -> list[Check]:
    several, pairs = len(done.comparisons) > 1, [compared.comparison for compared in done.comparisons]
    named = [(f"{pair.new.title}: " * several, gate) for pair in pairs for gate in pair.gates]
    return [Check(name=f"{title}{gate.rule}", passed=gate.passed, reason=gate.reason) for title, gate in named]


def ranker(model: Path) -> Announcement:
    return Announcement(status="a ranker", outputs={"model": model}, artifacts=[model])


def site(done: Done[Lines]) -> Announcement:
    outputs = {"site": done.folder, "report": done.reports["html"]}
    status = f"a site of {format_count(len(done.result.lines), 'evaluation')}"
    return Announcement(status=status, outputs=outputs, artifacts=[done.folder])


def verdict(done: Outcome) -> str:
    if not done.comparisons:
        return "no-base"
    if done.trouble:
        return "gate-failed"
    first = done.comparisons[0].comparison
    return first.filters[first.headline][first.declared[0]].verdict.value


def _read_text(path: Path | None) -> str:
    return path.read_text(encoding="utf-8", errors="replace") if path else ""
