"""Writes verdicts and differences for people."""

from __future__ import annotations

from collections.abc import Sequence

from ci_eval.contracts import Task
from ci_eval.model import (
    Comparison,
    Difference,
    Elsewhere,
    Evaluation,
    FilterFigures,
    MetricInfo,
    Trend,
    TrendPoint,
    Verdict,
)
from ci_eval.rendering.figures import TO, amount, change, change_between, first_filter
from ci_eval.statistics.clustered import FEWEST_OF_FIGURE

SIGNS = {
    Verdict.BETTER: "▲",
    Verdict.WORSE: "▼",
    Verdict.EQUIVALENT: "=",
    Verdict.NOT_SHOWN: "?",
    Verdict.NOT_COMPARABLE: "-",
}
WORDS = {verdict: verdict.value.replace("-", " ") for verdict in Verdict}

TRENDS = ("LatencyPercentile50", "LatencyPercentile95")
"""Metrics whose trend is drawn in addition to the declared ones."""


def said(verdict: Verdict) -> str:
    """A verdict with a sign, so that it is never told by colour alone."""
    return f"{SIGNS[verdict]} {WORDS[verdict]}"


def went(task: Task, rank: int | None, score: float, status: str) -> str:
    """How one session of a comparison went: its rank, in tasks that play their items its score, or why it failed."""
    if status not in {"ok", "no-match", "empty", "cut-off"}:
        return status
    if task.play:
        return f"{score:.0%}"
    return f"{rank:,}" if rank else "absent"


HERE = "In this project"
ELSEWHERE = "In other code"


def populations(evaluation: Evaluation) -> tuple[str, str]:
    """Two sentences about an evaluation: what its figures mean for this project, and for other code."""
    _, figures = first_filter(evaluation)
    here = f"all {figures.sessions:,} sessions were asked: its figures are exact"
    if figures.sessions < evaluation.population:
        asked = f"{figures.sessions:,} of its {evaluation.population:,} sessions were asked"
        here = f"{asked}; intervals (95 %) say where the figures of all lie"
    if sampling := evaluation.sampling:
        by = ", by how they went in an earlier run," if sampling.expecting else ""
        here += (
            f". They were drawn{by} for {sampling.metric} to be known to ±{sampling.precision * 100:g} pp, and "
            "stand for different numbers of others: figures and the numbers of sessions by rank are estimates for "
            "all; quantiles, and means over files, are left out"
        )
    elsewhere = f"intervals (95 %) say where the figures of {evaluation.clusters} like these lie"
    if not judged_of_code(figures):
        worth = max((each.elsewhere.effective for each in figures.metrics.values()), default=0)
        elsewhere = (
            f"no intervals, since the {evaluation.clusters} are worth {worth:.0f} of equal size; it takes "
            f"{FEWEST_OF_FIGURE}"
        )
    return f"{HERE}: {here}.", f"{ELSEWHERE}: {elsewhere}."


def judged_of_code(figures: FilterFigures) -> bool:
    """Whether any figure has an interval for other code."""
    return any(each.elsewhere.low is not None for each in figures.metrics.values())


def interval_text(found: Difference | Elsewhere, unit: str) -> str:
    """The interval that a verdict is based on; "exact" where nothing is uncertain."""
    if found.low is None or found.high is None:
        return "no interval"
    return "exact" if found.low == found.high else change_between(found.low, found.high, unit)


def p_text(found: Difference | Elsewhere) -> str:
    """The p-value of a difference; "" where there is none."""
    if found.p is None:
        return ""
    return "p < 0.001" if found.p < 0.001 else f"p = {found.p:.3f}"


def explained(found: Difference | Elsewhere, unit: str) -> str:
    """Interval, p-value and reason of a verdict, in one text."""
    interval = "" if found.low is None or found.low == found.high else interval_text(found, unit)
    return "; ".join(filter(None, (interval, p_text(found), found.why)))


def headline(comparison: Comparison) -> tuple[str, str]:
    """The verdict on the leading metric in two sentences: for this project, and for other code."""
    name = comparison.declared[0]
    found = comparison.filters["ALL"][name]
    unit = next(info.unit for info in comparison.metrics if info.name == name)
    asked = f"{comparison.paired:,} of its {comparison.population:,} sessions were asked"
    if comparison.paired == comparison.population:
        asked = f"all {comparison.paired:,} sessions were asked"
    figures = f"{name} {amount(found.base, unit)} → {amount(found.new, unit)}, {change(found.difference, unit)}"
    reason = explained(found, unit)
    here = f"{HERE} ({asked}): {said(found.verdict)}. {figures}" + (f" ({reason})" if reason else "") + "."
    here += f" {detection_text(comparison)}" if comparison.detection else ""
    return here, f"{ELSEWHERE}: {said(found.elsewhere.verdict)} ({explained(found.elsewhere, unit)})."


def detection_text(comparison: Comparison) -> str:
    """Which difference was to be found, and which one the sessions asked find; "" where all were to be asked."""
    found = comparison.detection
    if found is None:
        return ""
    unit = next(info.unit for info in comparison.metrics if info.name == found.metric)
    wanted = f"wanted: {_size(found.wanted, unit)} of {found.metric}, with power {found.power:.0%}"
    if found.reached is None:
        return f"Detectable: nothing, since {found.metric} has no figure ({wanted})."
    if not found.reached:
        return f"Detectable: any difference in this project, since all its sessions were asked ({wanted})."
    why = ""
    if found.reached > found.wanted and comparison.paired == comparison.population:
        why = "; all sessions were asked, but answers differ from round to round: more --rounds show more"
    return f"Detectable: {_size(found.reached, unit)} ({wanted}{why})."


def _size(difference: float, unit: str) -> str:
    return change(difference, unit).lstrip("+")


def judged_elsewhere(comparison: Comparison) -> bool:
    """Whether any declared metric has an interval for other code."""
    figures = comparison.filters["ALL"]
    return any(figures[name].elsewhere.low is not None for name in comparison.declared)


def adjusted(comparison: Comparison) -> str:
    """How the intervals and p-values of the declared metrics were adjusted, as a sentence."""
    figures = [comparison.filters["ALL"][name] for name in comparison.declared]
    judged = [each for each in figures if each.low is not None]
    timed = [each for each in judged if each.elsewhere.verdict is Verdict.NOT_COMPARABLE]
    if timed and len(timed) < len(judged):
        return (
            "Intervals and p of ranks are adjusted for the number of these metrics, and so are those of times, each "
            "family by itself: all intervals of ranks hold together in 95 of 100 comparisons, and all of times; both "
            "in at least 90"
        )
    return (
        "Intervals and p are adjusted for the number of these metrics, so that all intervals hold together in 95 of "
        "100 comparisons"
    )


def named(name: str, found: Difference) -> str:
    """A metric's name, with the sessions it is over where these are not all."""
    return f"{name} ({found.n:,} {found.over})" if found.over else name


def places(ahead: Sequence[int], behind: Sequence[int]) -> tuple[str, ...]:
    """The place of each evaluation of a ranking: before it stand as many others as are shown to be better, behind it as
    many as are shown to be worse; what lies between is a tie, such as 2-3."""
    count = len(ahead)
    spans = ((worse_than + 1, count - better_than) for better_than, worse_than in zip(ahead, behind, strict=True))
    return tuple(f"{first}" if first == last else f"{first}{TO}{last}" for first, last in spans)


def night_figure(trend: Trend, night: TrendPoint, metric: str) -> str:
    """The figure of a metric on one night."""
    unit = next((info.unit for info in trend.metrics if info.name == metric), "")
    found = night.metrics.get(metric)
    return amount(found.value if found else None, unit)


def pair_text(found: Difference | None, info: MetricInfo) -> str:
    """A difference between two evaluations, with its interval for this project."""
    if found is None:
        return ""
    return f"{change(found.difference, info.unit)} ({interval_text(found, info.unit)})"
