"""Writes figures for people: shares as percentages, scores, ranks, milliseconds, counts; and picks the headline
metrics."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from math import floor, isfinite, log10

from ci_eval.model import FAILED, Estimate, Evaluation, FilterFigures, Footprint, MetricInfo, OtherCode, State
from ci_eval.statistics import footprint

NOTHING = "\N{EM DASH}"
TO = "\N{EN DASH}"

HEADLINE = (
    "RecallAt1",
    "RecallAt5",
    "Recall",
    "MeanReciprocalRank",
    "MovesCountNormalised",
    "PerfectLine",
)
"""Metrics shown where there is no room for all; no times, which a single run tells roughly."""

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
"""Status of a session → its meaning, in the order of reports."""

FAILURES = ("context-too-long", "timeout", "engine-crash", "error")


def amount(value: float | None, unit: str) -> str:
    """A figure in its unit; a dash where there is none."""
    if value is None or not isfinite(value):
        return NOTHING
    match unit:
        case "share":
            return f"{value:.1%}"
        case "score" | "nats":
            return f"{value:.3f}"
        case "ms":
            return f"{value:,.1f} ms"
        case "MB":
            return f"{value:,.1f} MB"
        case "count":
            return f"{value:,.0f}"
        case "money":
            return money(value)
        case _:
            return f"{value:.2f}"


def money(value: float) -> str:
    """Return an amount in full cents from 1 on, and with two significant digits at least below."""
    decimals = 2 if abs(value) >= 1 or not value else min(max(2, 1 - floor(log10(abs(value)))), 12)
    return f"{value:,.{decimals}f}"


def change(difference: float | None, unit: str) -> str:
    """A difference with its sign, in its unit; differences of shares in percentage points."""
    if difference is None or not isfinite(difference):
        return NOTHING
    match unit:
        case "share":
            text = f"{difference * 100:+.2f} pp"
        case "score" | "nats":
            text = f"{difference:+.4f}"
        case "ms":
            text = f"{difference:+,.1f} ms"
        case "MB":
            text = f"{difference:+,.1f} MB"
        case "money":
            text = f"{'-' if difference < 0 else '+'}{money(abs(difference))}"
        case _:
            text = f"{difference:+.2f}"
    # A difference that rounds to 0 gets no sign.
    return text if any(digit in text for digit in "123456789") else f"±{text[1:]}"


def change_between(low: float | None, high: float | None, unit: str) -> str:
    """The interval of a difference; "" where there is none."""
    return "" if low is None or high is None else f"{change(low, unit)} to {change(high, unit)}"


def interval(estimate: Estimate | OtherCode, unit: str) -> str:
    """The 95 % interval in its unit; "exact" where nothing is uncertain, "" where there is none."""
    if estimate.low is None or estimate.high is None:
        return ""
    if estimate.low == estimate.high:
        checked = isinstance(estimate, OtherCode) or estimate.state in {"exact", "none"}
        return "exact" if checked else "all asked"
    low, high = amount(estimate.low, unit), amount(estimate.high, unit)
    text = "" if NOTHING in (low, high) else f"{low.removesuffix('%').removesuffix(' ms')}{TO}{high}"
    return stated(text, estimate.state) if isinstance(estimate, Estimate) else text


def stated(interval: str, state: State) -> str:
    """Return an interval with the state of its figure, if that is another than that of a plain sample."""
    return f"{interval}, {state}" if interval and state in {"noisy", "weighted", "partial"} else interval


def intervals(estimate: Estimate, unit: str) -> str:
    """Both 95 % intervals, in short: for this project, then for other code; "" where there is none."""
    elsewhere = interval(estimate.elsewhere, unit)
    return "; ".join(filter(None, (interval(estimate, unit), elsewhere and f"{elsewhere} elsewhere")))


def footprint_text(of: Footprint) -> str:
    """How long the engine took to start, and what memory it held, as far as known; "" where neither is."""
    known = footprint.figures(of)
    said = []
    if found := known.get(footprint.START_UP.name):
        of_starts = f" (median of {found.n:,} starts)" if found.n > 1 else ""
        said.append(f"first answer {amount(found.value, 'ms')} after its start{of_starts}")
    if found := known.get(footprint.MEMORY.name):
        whose = "ci-eval's worker process, in which it runs" if of.of_worker else "its processes"
        said.append(f"at most {amount(found.value, 'MB')} in {whose}")
    if of.waited > LONG_WAIT:
        said.append(f"{of.waited:,.0f} s of waiting for work that it announced")
    if of.unready:
        said.append(
            f"still at work after all the time that `engine.ready` allows (in {counted(of.unready, 'start')}), so that "
            "lists may lack what it had not read"
        )
    if of.dropped:
        said.append(f"{counted(of.dropped, 'item')} of its lists could not be read and are left out")
    return ", ".join(said)


LONG_WAIT = 10.0
"""Seconds of waiting that are worth a word."""

INDICATIVE = "indicative: one run on one machine; `ci-eval compare-engines` judges times"


def times_text(evaluation: Evaluation) -> str:
    """Return the median and the 95 % quantile of the lookups' times with their caveat; "" if there are none."""
    figures = evaluation.filters.get(evaluation.headline, NO_FIGURES).metrics
    median, high = (figures.get(f"LatencyPercentile{share}") for share in (50, 95))
    if median is None or high is None or median.value is None or high.value is None:
        return ""
    return f"median {amount(median.value, 'ms')}, 95 % of the lookups within {amount(high.value, 'ms')} ({INDICATIVE})"


def metric_infos(evaluation: Evaluation, figures: FilterFigures) -> list[MetricInfo]:
    """The descriptions of the metrics in `figures`, in the evaluation's order."""
    known = {info.name: info for info in evaluation.metrics}
    unknown = (name for name in figures.metrics if name not in known)
    return [info for info in known.values() if info.name in figures.metrics] + [
        MetricInfo(name=name, summary="", unit="", better="neither") for name in unknown
    ]


def headline(infos: Iterable[MetricInfo]) -> list[MetricInfo]:
    """Those of the metrics that are in HEADLINE."""
    infos = [info for info in infos if info.unit != "count"]
    shown = [info for info in infos if info.shown] or [info for info in infos if info.name in HEADLINE]
    return shown or infos[: len(HEADLINE)]


def sessions_by_kind(kinds: Mapping[str, Mapping[str, Estimate]]) -> dict[str, int]:
    """Kind of token → number of its sessions, the most frequent first.

    Latencies are observed once per lookup, so their number of observations would mislead.
    """
    count = {
        kind: metrics["Sessions"].n if "Sessions" in metrics else max((each.n for each in metrics.values()), default=0)
        for kind, metrics in kinds.items()
    }
    return dict(sorted(count.items(), key=lambda item: (-item[1], item[0])))


def evaluated(figures: FilterFigures, where: str = "") -> str:
    """The sentence that says how many sessions were evaluated (`where`: of how much code), and in how many the engine
    failed; every report must have it."""
    said = f"{figures.sessions:,} of {counted(figures.planned, 'session')} evaluated{where}"
    failed = failures(figures.statuses)
    return f"{said}, the engine failed in {'all' if failed == figures.sessions else f'{failed:,}'}" if failed else said


def counted(number: int, noun: str) -> str:
    """Such as "1 file" or "1,200 files"."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def failures(counts: Mapping[str, int]) -> int:
    """How many sessions the engine failed in, by their count for each status."""
    return sum(counts.get(each.value, 0) for each in FAILED)


def statuses(counts: Mapping[str, int]) -> list[tuple[str, int]]:
    """The statuses that occurred with their counts, in the order of OUTCOMES."""
    order = {name: place for place, name in enumerate(OUTCOMES)}
    return sorted(((name, n) for name, n in counts.items() if n), key=lambda item: order.get(item[0], len(order)))


def failed_everywhere(evaluation: Evaluation) -> str:
    """Return why there are no figures, where the engine failed in each session; "" where it did not."""
    _, whole = first_filter(evaluation)
    if not whole.sessions or failures(whole.statuses) < whole.sessions:
        return ""
    first = next((each for each in evaluation.errors if each.sessions), None)
    cause = first.trace.rstrip().rpartition("\n")[2].strip() if first else ""
    said = first.message.partition(": ")[2].partition("\n")[0] if first else "see the errors below"
    return (
        f"The engine failed in all {counted(whole.sessions, 'session')}, so there are no figures: "
        f"{said if not cause or cause in said else f'{said}: {cause}'}"
    )


def first_filter(evaluation: Evaluation) -> tuple[str, FilterFigures]:
    """The filter that reports show first: ALL if there is one, else the first."""
    name = "ALL" if "ALL" in evaluation.filters else next(iter(evaluation.filters), "ALL")
    return name, evaluation.filters.get(name, NO_FIGURES)


NO_FIGURES = FilterFigures(sessions=0, planned=0, undecided=0, statuses={}, metrics={}, files={}, kinds={}, ranks={})
