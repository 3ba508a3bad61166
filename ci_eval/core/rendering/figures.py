"""The figures in words: shares as percentages, scores, ranks, milliseconds, counts; and the choice of the headline
metrics."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from ci_eval.core.model import FAILED, Estimate, Evaluation, FilterFigures, Footprint, MetricInfo
from ci_eval.core.model.units import amount, interval, money
from ci_eval.core.statistics import footprint

LISTS = frozenset({"completion", "golf", "inside"})
"""The tasks in which a client shows lists."""

HEADLINE = (
    "RecallAt1",
    "RecallAt5",
    "Recall",
    "MeanReciprocalRank",
    "MovesCountNormalised",
    "PerfectLine",
)
"""The metrics to show if there is no room for all. Times are not among them: a single run measures them roughly."""

OUTCOMES = {
    "ok": "answered, expected text among the suggestions",
    "empty": "answered with no suggestion",
    "no-match": "answered, expected text absent",
    "cut-off": "answered up to the limit of tokens, and not complete",
    "context-too-long": "the question was longer than the model can look at",
    "timeout": "no answer in time",
    "engine-crash": "the engine died",
    "skipped": "not asked",
    "no-place": "not asked: the text has no place for the call",
    "error": "the engine raised or broke its protocol",
}
"""The status of a session → its meaning, in the order of reports."""

FAILURES = ("context-too-long", "timeout", "engine-crash", "error")


def intervals(estimate: Estimate, unit: str) -> str:
    """Return both 95 % intervals, in short: for this project, then for other code; "" if there are none."""
    elsewhere = interval(estimate.elsewhere, unit)
    return "; ".join(filter(None, (interval(estimate, unit), elsewhere and f"{elsewhere} elsewhere")))


def footprint_text(of: Footprint) -> str:
    """Return how long the engine took to start, what memory it held, and what it left out or was waited for; "" if
    nothing is known."""
    known = footprint.figures(of)
    texts = []
    if figure := known.get(footprint.START_UP.name):
        of_starts = f" (median of {figure.n:,} starts)" if figure.n > 1 else ""
        texts.append(f"first answer {amount(figure.value, 'ms')} after its start{of_starts}")
    if figure := known.get(footprint.MEMORY.name):
        whose = "ci-eval's worker process, in which it runs" if of.of_worker else "its processes"
        texts.append(f"at most {amount(figure.value, 'MB')} in {whose}")
    if of.waited > LONG_WAIT:
        texts.append(f"{of.waited:,.0f} s of waiting for work that it announced")
    if of.unready:
        texts.append(
            f"still at work after all the time that `engine.ready` allows (in {format_count(of.unready, 'start')}), so "
            "that lists may lack what it had not read"
        )
    if of.dropped:
        texts.append(f"{format_count(of.dropped, 'item')} of its lists could not be read and are left out")
    return ", ".join(texts)


LONG_WAIT = 10.0
"""The seconds of waiting from which on a report mentions them."""

INDICATIVE = "indicative: one run on one machine; `ci-eval compare-engines` judges times"


def times_text(evaluation: Evaluation) -> str:
    """Return the median and the 95 % quantile of the lookups' times with their caveat; "" if there are none."""
    figures = evaluation.filters.get(evaluation.headline, NO_FIGURES).metrics
    median, high = (figures.get(f"LatencyPercentile{share}") for share in (50, 95))
    if median is None or high is None or median.value is None or high.value is None:
        return ""
    return f"median {amount(median.value, 'ms')}, 95 % of the lookups within {amount(high.value, 'ms')} ({INDICATIVE})"


def cost_text(evaluation: Evaluation) -> str:
    """Return the price of all answers, and of the judge's; "" if no price is known."""
    figures = first_filter(evaluation)[1].metrics
    parts = (("Cost", "for the answers"), ("JudgeCost", "for the judge's"))
    costs = ((figures.get(name), words) for name, words in parts)
    return ", ".join(f"{money(figure.value)} {words}" for figure, words in costs if figure and figure.value is not None)


def metric_infos(evaluation: Evaluation, figures: FilterFigures) -> list[MetricInfo]:
    """Return the descriptions of the metrics in `figures`, in the evaluation's order; unknown metrics come last."""
    known = {info.name: info for info in evaluation.metrics}
    unknown = (name for name in figures.metrics if name not in known)
    return [info for info in known.values() if info.name in figures.metrics] + [
        MetricInfo(name=name, summary="", unit="", better="neither") for name in unknown
    ]


def headline(infos: Iterable[MetricInfo]) -> list[MetricInfo]:
    """Return the metrics for a headline: those marked as shown, else those in HEADLINE, else the first ones. Counts are
    never among them."""
    infos = [info for info in infos if info.unit != "count"]
    shown = [info for info in infos if info.shown] or [info for info in infos if info.name in HEADLINE]
    return shown or infos[: len(HEADLINE)]


def sessions_by_kind(kinds: Mapping[str, Mapping[str, Estimate]]) -> dict[str, int]:
    """Return kind of token → number of its sessions, the most frequent first."""
    # Latencies are observed once per lookup, so their number of observations would mislead.
    count = {
        kind: metrics["Sessions"].n
        if "Sessions" in metrics
        else max((estimate.n for estimate in metrics.values()), default=0)
        for kind, metrics in kinds.items()
    }
    return dict(sorted(count.items(), key=lambda item: (-item[1], item[0])))


def describe_session_counts(figures: FilterFigures, where: str = "") -> str:
    """Return the sentence that says how many sessions were evaluated (`where`: of how much code), and in how many the
    engine failed. Every report must have it."""
    text = f"{figures.sessions:,} of {format_count(figures.planned, 'session')} evaluated{where}"
    failed = failures(figures.statuses)
    return f"{text}, the engine failed in {'all' if failed == figures.sessions else f'{failed:,}'}" if failed else text


def client_name(evaluation: Evaluation) -> str:
    """Return the client whose lists the figures are of; "" for tasks in which no list is looked at."""
    return evaluation.client if evaluation.task in LISTS else ""


def format_count(number: int, noun: str) -> str:
    """Return a number with its noun, such as "1 file" or "1,200 files"."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def failures(counts: Mapping[str, int]) -> int:
    """Return in how many sessions the engine failed; `counts` has the number of sessions by status."""
    return sum(counts.get(status.value, 0) for status in FAILED)


def statuses(counts: Mapping[str, int]) -> list[tuple[str, int]]:
    """Return the statuses that occurred with their counts, in the order of OUTCOMES."""
    order = {name: place for place, name in enumerate(OUTCOMES)}
    return sorted(((name, n) for name, n in counts.items() if n), key=lambda item: order.get(item[0], len(order)))


def failed_everywhere(evaluation: Evaluation) -> str:
    """Return why there are no figures if the engine failed in all sessions; "" if it did not."""
    _, whole = first_filter(evaluation)
    if not whole.sessions or failures(whole.statuses) < whole.sessions:
        return ""
    first = next((error for error in evaluation.errors if error.sessions), None)
    cause = first.trace.rstrip().rpartition("\n")[2].strip() if first else ""
    message = first.message.partition(": ")[2].partition("\n")[0] if first else "see the errors below"
    return (
        f"The engine failed in all {format_count(whole.sessions, 'session')}, so there are no figures: "
        f"{message if not cause or cause in message else f'{message}: {cause}'}"
    )


def first_filter(evaluation: Evaluation) -> tuple[str, FilterFigures]:
    """Return name and figures of the filter that reports show first: ALL if there is one, else the first."""
    name = "ALL" if "ALL" in evaluation.filters else next(iter(evaluation.filters), "ALL")
    return name, evaluation.filters.get(name, NO_FIGURES)


NO_FIGURES = FilterFigures(sessions=0, planned=0, undecided=0, statuses={}, metrics={}, files={}, kinds={}, ranks={})
