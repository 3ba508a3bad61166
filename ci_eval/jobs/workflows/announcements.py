"""Reports the result of a job to the CI that it runs in."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec

from ci_eval.ci import Announcement, Check, Problem, Screen, limits
from ci_eval.errors import CiEvalError
from ci_eval.jobs.compare import Compared, Outcome
from ci_eval.jobs.evaluate import Evaluated
from ci_eval.jobs.suites.suite import Suited
from ci_eval.jobs.workflows.plan import PlannedJob, evaluations, group, trained
from ci_eval.jobs.workflows.site import Site
from ci_eval.rendering.figures import amount, change, counted, evaluated, headline
from ci_eval.rendering.ladder import label, shown_filter
from ci_eval.workspace import Workspace


def evaluation(done: Evaluated, screen: Screen) -> None:
    """Report the figures of an evaluation. (Why it counts as failed, if it does, is reported where the command
    ends.)"""
    found = done.evaluation
    name, figures = shown_filter(found)
    whole = found.filters["ALL"]
    infos = headline(found.metrics)
    first = infos[0]
    checks = [Check(name=gate.rule, passed=gate.passed, reason=gate.reason) for gate in found.gates]
    screen.host.announce(
        Announcement(
            status=f"{found.engine.name} {found.engine.version}, {found.completion_type}, {found.project.name}: "
            f"{first.name} {amount(figures.metrics[first.name].value, first.unit)} ({label(name)}), {evaluated(whole)}",
            summary=_text(done.reports.get("markdown")),
            outputs={
                "workspace": _place(done.folder),
                "report": _place(done.reports.get("html")),
                "metrics": _place(done.reports.get("json")),
                "verdict": "failed" if done.trouble else "ok",
            },
            statistics={
                metric: each.value
                for metric, each in (whole.metrics | figures.metrics).items()
                if each.value is not None
            },
            checks=checks,
            problems=_problems(checks),
            artifacts=[done.folder],
        )
    )


def suite(done: Suited, screen: Screen) -> None:
    """Report the means over the projects of a suite; and each project that fails the job, as a check."""
    found = done.suite
    checks = [
        Check(
            name=f"{project.project.name} {project.project.revision}",
            passed=not project.trouble,
            reason=project.trouble,
        )
        for project in found.projects
    ]
    means = {name: each.mean for name, each in found.overall.items() if each.mean is not None}
    screen.host.announce(
        Announcement(
            status=f"{found.title}: {counted(len(found.projects), 'project')}",
            summary=_text(done.reports.get("markdown")),
            outputs={
                "comparison" if found.compared else "workspace": _place(done.folder),
                "report": _place(done.reports.get("html")),
                "metrics": _place(done.reports.get("json")),
                "verdict": "failed" if done.trouble else "ok",
            },
            statistics={f"difference.{name}" if found.compared else name: mean for name, mean in means.items()},
            checks=checks,
            problems=_problems(checks),
            artifacts=[done.folder],
        )
    )


def logs(workspace: Workspace, trouble: CiEvalError | None, screen: Screen) -> None:
    """Report how many rows were logged."""
    folder, manifest = workspace.folder, workspace.manifest()
    record = manifest.logs
    rows = {side: each.rows for side, each in record.sides.items()} if record else {}
    screen.host.announce(
        Announcement(
            status=f"logs: {sum(rows.values()):,} rows",
            outputs={
                "workspace": _place(folder),
                "logs": _place(folder / "logs"),
                "artifact": limits.name(f"logs {manifest.project.spec}"),
                "verdict": "failed" if trouble else "ok",
            },
            statistics={f"rows.{side}": float(count) for side, count in rows.items()},
            artifacts=[folder],
        )
    )


def plan(matrix: str, jobs: Sequence[PlannedJob], screen: Screen) -> None:
    """Report the job matrix, and what later jobs need: the names of evaluations and rankers, and one name for all of
    them."""
    found = evaluations(jobs)
    outputs = {
        "matrix": matrix,
        "evaluations": _json(list(found)),
        "each-evaluation": _json(_matrix("evaluation", found)),
        "rankers": _json(_matrix("ranker", trained(jobs))),
        "group": group(jobs),
    }
    screen.host.announce(
        Announcement(status=f"{counted(len(jobs), 'job')}, {counted(len(found), 'evaluation')}", outputs=outputs)
    )


def _place(path: Path | None) -> str:
    """Return the absolute path, for steps that run in another folder."""
    return str(path.absolute()) if path else ""


def _matrix(key: str, marked: Mapping[str, bool]) -> dict[str, object]:
    return {"include": [{key: name, "allowFailure": may} for name, may in marked.items()]}


def _json(found: object) -> str:
    return msgspec.json.encode(found).decode()


def comparison(done: Outcome, screen: Screen) -> None:
    """Report the verdicts in one line, gates as tests, and each broken gate as a problem of its own."""
    first = done.comparisons[0] if done.comparisons else None
    reports = done.reports or (first.reports if first else {})
    checks = [
        Check(name=_named(each, gate.rule, len(done.comparisons)), passed=gate.passed, reason=gate.reason)
        for each in done.comparisons
        for gate in each.comparison.gates
    ]
    screen.host.announce(
        Announcement(
            status="; ".join(map(_status, done.comparisons)) or "no evaluation to compare with yet",
            summary=_text(reports.get("markdown")),
            outputs={
                "comparison": _place(done.folder),
                "report": _place(reports.get("html")),
                "metrics": _place(reports.get("json")),
                "verdict": verdict(done),
            },
            statistics=_differences(first) if first else {},
            checks=checks,
            problems=_problems(checks),
            artifacts=[done.folder],
        )
    )


def _problems(checks: Sequence[Check]) -> list[Problem]:
    broken = (check for check in checks if not check.passed)
    return [Problem(identity=identity_of(check.name), text=f"{check.name}: {check.reason}") for check in broken]


def site(done: Site, screen: Screen) -> None:
    """Report how many evaluations the site shows."""
    outputs = {"site": _place(done.folder), "report": _place(done.index)}
    status = f"a site of {counted(len(done.lines), 'evaluation')}"
    screen.host.announce(Announcement(status=status, outputs=outputs, artifacts=[done.folder]))


def verdict(done: Outcome) -> str:
    """`gate-failed`, or the verdict on the first declared metric, or `no-base`."""
    if not done.comparisons:
        return "no-base"
    if done.trouble:
        return "gate-failed"
    found = done.comparisons[0].comparison
    return found.filters[found.headline][found.declared[0]].verdict.value


def _status(each: Compared) -> str:
    found = each.comparison
    name = found.declared[0]
    unit = next(info.unit for info in found.metrics if info.name == name)
    said = found.filters[found.headline][name]
    return f"{name} {change(said.difference, unit)} ({said.verdict.value}; {label(found.headline)}), {found.new.title}"


def _differences(each: Compared) -> dict[str, float]:
    figures = each.comparison.filters[each.comparison.headline]
    return {
        f"difference.{name}": figures[name].difference or 0.0
        for name in each.comparison.declared
        if figures[name].difference is not None
    }


def _named(each: Compared, rule: str, of: int) -> str:
    return rule if of == 1 else f"{each.comparison.new.title}: {rule}"


def identity_of(text: str) -> str:
    """Return an identity for a rule, the same in every run and different for each rule, though signs are replaced and
    long names cut."""
    digest = hashlib.blake2b(text.encode("utf-8", "replace"), digest_size=4).hexdigest()
    return f"gate_{re.sub(r'[^A-Za-z0-9]+', '_', text).strip('_')[:40]}_{digest}"


def _text(path: Path | None) -> str:
    return path.read_text(encoding="utf-8", errors="replace") if path else ""
