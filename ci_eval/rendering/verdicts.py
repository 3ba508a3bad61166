"""Writes verdicts and differences for people."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from ci_eval.contracts import Task
from ci_eval.model import (
    Comparison,
    Difference,
    Elsewhere,
    Evaluation,
    FilterFigures,
    MetricInfo,
    Side,
    Trend,
    TrendPoint,
    Verdict,
)
from ci_eval.rendering.figures import TO, amount, change, change_between, counted, first_filter
from ci_eval.rendering.ladder import beside, label, shown_filter
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
    _, leading = shown_filter(evaluation)
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
    if not judged_of_code(leading):
        worth = max((each.elsewhere.effective for each in leading.metrics.values()), default=0)
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


def verdict_lines(
    comparison: Comparison, shown: Callable[[str], str] = str, folders: tuple[str, str] | None = None
) -> list[str]:
    """Return the verdict on the leading metric for this project; then what stands beside it: other kinds of tokens,
    times and failures, as far as they were judged.

    `shown` makes foreign text safe there. `folders`: where the two workspaces are; None = their names are enough.
    """
    others = dict(_beside_lines(comparison, shown))
    keywords = others.pop("keywords", "")
    time, failures = _time_line(comparison, shown, folders), _failure_line(comparison, shown, folders)
    lines = [_leading_line(comparison, shown), keywords, time, failures, *others.values()]
    return [line for line in lines if line]


def _leading_line(comparison: Comparison, shown: Callable[[str], str]) -> str:
    name, counts = comparison.declared[0], comparison.counts[comparison.headline]
    found = comparison.filters[comparison.headline][name]
    unit = _unit(comparison, name)
    figures = f"{name} {amount(found.base, unit)} → {amount(found.new, unit)}, {change(found.difference, unit)}"
    reason = explained(found, unit)
    line = f"{HERE} ({shown(label(comparison.headline))}): {said(found.verdict)}. {figures}"
    line += f" ({reason})" if reason else ""
    line += f"; better in {counts.wins:,}, worse in {counts.losses:,} of {counted(counts.sessions, 'session')}."
    return f"{line} {detection_text(comparison)}" if comparison.detection else line


def _beside_lines(comparison: Comparison, shown: Callable[[str], str]) -> Iterator[tuple[str, str]]:
    """Yield each group of kinds beside the headline's with a line about it. What is not offered at all has no ranks."""
    name, unit = comparison.declared[0], _unit(comparison, comparison.declared[0])
    for group, part in beside(comparison.headline, comparison.filters).items():
        counts, figures = comparison.counts[part], comparison.filters[part]
        found = figures[name]
        if not counts.sessions or found.difference is None:
            continue
        sides = ((comparison.base, "base"), (comparison.new, "new"))
        nothing = [
            side.engine.name for side, of in sides if (recall := figures.get("Recall")) and getattr(recall, of) == 0
        ]
        start = f"{group.capitalize()}, apart"
        if len(nothing) == 1 and counts.wins + counts.losses:
            lost = "worse" if nothing == [comparison.new.engine.name] else "better"
            number = counts.losses if lost == "worse" else counts.wins
            yield (
                group,
                f"{start}: {shown(nothing[0])} offers none ({lost} in {number:,} of {counts.sessions:,} for that).",
            )
        elif nothing:
            yield group, f"{start}: neither engine offers any of {counts.sessions:,}."
        else:
            between = f"{amount(found.base, unit)} → {amount(found.new, unit)}, {change(found.difference, unit)}"
            yield (
                group,
                f"{start}: {said(found.verdict)}. {name} {between}; better in {counts.wins:,}, worse in "
                f"{counts.losses:,} of {counts.sessions:,}.",
            )


STATUS_WORDS = {"timeout": "hung at", "engine-crash": "crashed at", "error": "failed at"}


def failure_text(side: Side, of: int, folder: str, shown: Callable[[str], str] = str) -> str:
    """Return at how many of the paired sessions an engine failed, and how to look at one; "" if at none."""
    failed = side.failures
    if not failed or not failed.sessions:
        return ""
    (status, _), *others = sorted(failed.statuses.items(), key=lambda item: (-item[1], item[0]))
    what = "failed at" if others else STATUS_WORDS.get(status, "failed at")
    rounds = ""
    if failed.rounds > 1:
        rounds = f", {failed.always:,} of them in all {failed.rounds} rounds"
        if failed.always == failed.sessions:
            rounds = f", in {failed.rounds} of {failed.rounds} rounds"
    look = shown(f"ci-eval show {folder} {failed.example}")
    return f"{shown(side.engine.name)} {what} {failed.sessions:,} of {counted(of, 'session')}{rounds} ({look})"


def _failure_texts(comparison: Comparison, shown: Callable[[str], str], folders: tuple[str, str] | None) -> list[str]:
    sides = (comparison.base, comparison.new)
    where = folders or tuple(side.workspace for side in sides)
    texts = (failure_text(side, comparison.paired, folder, shown) for side, folder in zip(sides, where, strict=True))
    return [text for text in texts if text]


def _failure_line(comparison: Comparison, shown: Callable[[str], str], folders: tuple[str, str] | None) -> str:
    if comparison.failures is None:
        return ""
    verdict, p = comparison.failures.verdict, comparison.failures.p
    sides = ", ".join(
        f"{name} failed in {side.failures.sessions if side.failures else 0:,}"
        for name, side in (("base", comparison.base), ("new", comparison.new))
    )
    line = f"Failures: {said(verdict)} ({sides} of {counted(comparison.paired, 'session')}, sign test p = {p:.3f})"
    texts = [] if _is_timed(comparison) else _failure_texts(comparison, shown, folders)
    return f"{'; '.join([line, *texts])}. They count as misses."


def _is_timed(comparison: Comparison) -> bool:
    median = comparison.filters[comparison.headline].get(TRENDS[0])
    return median is not None and median.verdict is not Verdict.NOT_COMPARABLE


def _time_line(comparison: Comparison, shown: Callable[[str], str], folders: tuple[str, str] | None) -> str:
    """Return where an engine hung or failed, and then the verdict on times; "" if times were not judged."""
    if not _is_timed(comparison):
        return ""
    median, high = (comparison.filters[comparison.headline][name] for name in TRENDS)
    faster = {Verdict.BETTER: comparison.new, Verdict.WORSE: comparison.base}.get(median.verdict)
    verdict = said(median.verdict) if faster is None else f"{shown(faster.engine.name)} is faster at the median"
    failed = _failure_texts(comparison, shown, folders)
    return (
        f"Time: {'; '.join([*failed, verdict])}. Median {amount(median.base, 'ms')} → {amount(median.new, 'ms')}, "
        f"95 % of the lookups within {amount(high.base, 'ms')} → {amount(high.new, 'ms')}."
    )


def elsewhere_line(comparison: Comparison) -> str:
    """Return the verdict on the leading metric for other code."""
    name = comparison.declared[0]
    found = comparison.filters[comparison.headline][name]
    return f"{ELSEWHERE}: {said(found.elsewhere.verdict)} ({explained(found.elsewhere, _unit(comparison, name))})."


def pairs_text(comparison: Comparison) -> str:
    """Return how many sessions were compared, of which those of the headline are some, and how many have no partner."""
    asked = f"{comparison.paired:,} of the project's {comparison.population:,} sessions"
    if comparison.paired == comparison.population:
        asked = f"all {counted(comparison.paired, 'session')} of the project"
    alone = [
        f"{count:,} {where}"
        for count, where in (
            (comparison.only_base, "only in base"),
            (comparison.only_new, "only in new"),
            (comparison.changed_text, "in changed files"),
        )
        if count
    ]
    return f"Compared {asked}, in {counted(comparison.files, 'file')}" + (f"; {', '.join(alone)}" if alone else "")


def change_text(found: Difference | None, info: MetricInfo) -> str:
    """Return a difference with the sign of its verdict; "" if there is none."""
    return "" if found is None else f"{SIGNS[found.verdict]} {change(found.difference, info.unit)}"


def _unit(comparison: Comparison, name: str) -> str:
    return next(info.unit for info in comparison.metrics if info.name == name)


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
    if found.reached > found.wanted and found.most and comparison.paired < comparison.population:
        why = f"; at most {found.most:,} sessions were asked: --detect {found.wanted * 100:g}pp asks more"
    elif found.reached > found.wanted and comparison.paired == comparison.population:
        why = "; all sessions were asked, but answers differ from round to round: more --rounds show more"
    return f"Detectable: {_size(found.reached, unit)} ({wanted}{why})."


def _size(difference: float, unit: str) -> str:
    return change(difference, unit).lstrip("+")


def judged_elsewhere(comparison: Comparison) -> bool:
    """Whether any declared metric has an interval for other code."""
    figures = comparison.filters[comparison.headline]
    return any(figures[name].elsewhere.low is not None for name in comparison.declared)


def adjusted(comparison: Comparison) -> str:
    """How the intervals and p-values of the declared metrics were adjusted, as a sentence."""
    figures = [comparison.filters[comparison.headline][name] for name in comparison.declared]
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
