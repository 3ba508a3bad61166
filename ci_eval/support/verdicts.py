"""How verdicts and differences are written where people read them."""

from __future__ import annotations

from ci_eval.model import Difference, MetricInfo, Night, Trend, Verdict
from ci_eval.support.figures import amount, change, change_between

SIGNS = {
    Verdict.BETTER: "▲",
    Verdict.WORSE: "▼",
    Verdict.EQUIVALENT: "=",
    Verdict.NOT_SHOWN: "?",
    Verdict.NOT_COMPARABLE: "-",
}
WORDS = {verdict: verdict.value.replace("-", " ") for verdict in Verdict}

TRENDS = ("LatencyPercentile50", "LatencyPercentile95")
"""What is drawn over time beside the declared metrics."""


def said(verdict: Verdict) -> str:
    """A verdict with its sign: colour is never the only one."""
    return f"{SIGNS[verdict]} {WORDS[verdict]}"


def night_figure(trend: Trend, night: Night, metric: str) -> str:
    """One figure of one night."""
    unit = next((info.unit for info in trend.metrics if info.name == metric), "")
    found = night.metrics.get(metric)
    return amount(found.value if found else None, unit)


def pair_text(found: Difference | None, info: MetricInfo) -> str:
    """A difference between two evaluations, with its interval."""
    if found is None:
        return ""
    between = change_between(found.low, found.high, info.unit)
    return change(found.difference, info.unit) + (f" ({between})" if between else "")
