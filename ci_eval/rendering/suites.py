"""A suite as rows of text."""

from __future__ import annotations

from ci_eval.model import MetricInfo, OtherCode, OverProjects, Suite, SuiteProject
from ci_eval.rendering.figures import amount, change, change_between, counted, interval
from ci_eval.rendering.verdicts import HERE, interval_text, said

OVERALL = "In other projects"


def populations(suite: Suite) -> tuple[str, str]:
    """Two sentences: what the rows say, and what the last one says."""
    figures = "differences (new - base)" if suite.compared else "figures"
    what = f" {suite.about}" if suite.about else ""
    verdicts = " and verdicts" if suite.compared else ""
    return (
        f"{HERE}: each row has the {figures} of one project{what}; its intervals{verdicts} (95 %) are of that project.",
        f"{OVERALL}: the last row has the mean of {counted(len(suite.projects), 'project')}, each of which weighs the "
        f"same; its intervals{verdicts} (95 %, Student's t, adjusted for the number of metrics) are of projects like "
        "these.",
    )


def cell(each: SuiteProject, info: MetricInfo) -> tuple[str, str]:
    """A project's figure, or its difference with the verdict; and the interval, "" where there is none."""
    if found := each.differences.get(info.name):
        return f"{change(found.difference, info.unit)} {said(found.verdict)}", interval_text(found, info.unit)
    figure = each.figures.get(info.name)
    return (amount(figure.value, info.unit), interval(figure, info.unit)) if figure else (amount(None, info.unit), "")


def overall_cell(suite: Suite, info: MetricInfo) -> tuple[str, str]:
    """The same of the mean over all projects; without an interval, why there is none."""
    found = suite.overall[info.name]
    if suite.compared:
        first = f"{change(found.mean, info.unit)} {said(found.verdict)}"
        return first, "; ".join(filter(None, (change_between(found.low, found.high, info.unit), found.why)))
    return amount(found.mean, info.unit), _between(found, info.unit) or found.why


def _between(found: OverProjects, unit: str) -> str:
    if found.low is None or found.high is None:
        return ""
    bounds = (max(0.0, found.low), min(1.0, found.high)) if unit in {"share", "score"} else (found.low, found.high)
    return interval(OtherCode(low=bounds[0], high=bounds[1]), unit)
