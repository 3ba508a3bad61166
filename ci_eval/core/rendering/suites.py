"""A suite as rows of text."""

from __future__ import annotations

from collections.abc import Iterator

from ci_eval.core.model import MetricInfo, OtherCode, OverProjects, Suite, SuiteProject
from ci_eval.core.rendering.figures import amount, change, change_between, format_count, interval
from ci_eval.core.rendering.verdicts import HERE, interval_text, said

OVERALL = "In other projects"


def populations(suite: Suite) -> tuple[str, ...]:
    """Return what the rows say, and what the last one says; if there are times of a busy machine, also what they are
    worth."""
    figures = "differences (new - base)" if suite.compared else "figures"
    what = f" {suite.about}" if suite.about else ""
    verdicts = " and verdicts" if suite.compared else ""
    pairs = f" and of the {suite.pairs} pairs of sides" if suite.pairs > 1 else ""
    return (
        f"{HERE}: each row has the {figures} of one project{what}; its intervals{verdicts} (95 %) are of that project.",
        f"{OVERALL}: the last row has the mean of {format_count(len(suite.projects), 'project')}, each of which weighs "
        f"the same; its intervals{verdicts} (95 %, Student's t, adjusted for the number of metrics{pairs}) are of "
        "projects like these.",
        *_busy(suite),
    )


def _busy(suite: Suite) -> Iterator[str]:
    busy = [entry.project.name for entry in suite.projects if entry.busy]
    if busy and any(info.is_time for info in suite.metrics):
        which = "all projects" if len(busy) == len(suite.projects) else ", ".join(busy)
        yield f"⚠ The machine was busy during {which}: times say more about the machine than about the engine."


def cell(entry: SuiteProject, info: MetricInfo) -> tuple[str, str]:
    """Return a project's figure, or its difference with the verdict; and the interval, "" if there is none."""
    if difference := entry.differences.get(info.name):
        return f"{change(difference.difference, info.unit)} {said(difference.verdict)}", interval_text(
            difference, info.unit
        )
    figure = entry.figures.get(info.name)
    return (amount(figure.value, info.unit), interval(figure, info.unit)) if figure else (amount(None, info.unit), "")


def overall_cell(suite: Suite, info: MetricInfo) -> tuple[str, str]:
    """Return the mean over all projects, with the verdict in a comparison; and the interval, or why there is none."""
    overall = suite.overall[info.name]
    if suite.compared:
        first = f"{change(overall.mean, info.unit)} {said(overall.verdict)}"
        return first, "; ".join(filter(None, (change_between(overall.low, overall.high, info.unit), overall.why)))
    return amount(overall.mean, info.unit), _between(overall, info.unit) or overall.why


def _between(overall: OverProjects, unit: str) -> str:
    return "" if overall.low is None else interval(OtherCode(low=overall.low, high=overall.high), unit)
