"""The time that a user waits, in milliseconds, over all lookups of all evaluated sessions; the share of answers in
time; the CPU time of the engine's processes, if they run on this machine.

A time-out counts as the time limit; a crashed lookup has no latency. If sessions were asked in several rounds, the
latency of a lookup is its median over the rounds. A delay of 100 ms feels instantaneous (Nielsen 1993, after Miller
1968); within 200 ms a fast typist has pressed the next key.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ci_eval.core.contracts import Metric, Observation
from ci_eval.core.model import MetricInfo, SessionScore
from ci_eval.core.scoring import Observe, evaluated, make_metric, rank_of


def observe(session: SessionScore) -> Sequence[Observation]:
    return [(lookup.latency, 1.0) for lookup in session.lookups]


def observe_cold(session: SessionScore) -> Sequence[Observation]:
    """Return the latency of the first lookup after a file was opened. The engine must read the file first."""
    return [(lookup.latency, 1.0) for lookup in session.lookups if lookup.cold]


def observe_cpu(session: SessionScore) -> Sequence[Observation]:
    return [(lookup.cpu, 1.0) for lookup in session.lookups if lookup.cpu is not None]


def latency(name: str, summary: str, observed: Observe = observe, statistic: str = "quantile", **facts: Any) -> Metric:
    fixed: dict[str, Any] = {"better": "lower", "order": (8,), "of": "either", "timed": True}
    return make_metric(name, summary, observed, "ms", statistic=statistic, **fixed | facts)


def right_within(budget: int) -> Metric:
    """Return the metric for the share of sessions in which the expected text came first within `budget` ms."""

    def observe(session: SessionScore) -> list[tuple[float, float]]:
        if not evaluated(session):
            return []
        # A late answer is a miss because the user has continued typing.
        return [(float(rank_of(session) == 1 and session.lookups[session.until - 1].latency <= budget), 1.0)]

    summary = f"share of sessions in which the expected text stood first, within {budget} ms"
    info = MetricInfo(name=f"RightWithin{budget}ms", summary=summary, unit="share", better="higher", timed=True)
    return Metric(info=info, observe=observe, order=(7,), timed=True, of_the_user=True)


METRICS: tuple[Metric, ...] = (
    latency("MeanLatency", "mean time of a lookup", statistic="ratio"),
    latency("MaxLatency", "time of the slowest lookup"),
    latency("LatencyPercentile50", "half of the lookups took at most this (nearest rank)", quantile=0.5),
    latency("LatencyPercentile95", "95 % of the lookups took at most this (nearest rank)", quantile=0.95),
    latency("FirstCallLatency", "mean time of the first lookup after a file was opened", observe_cold, "ratio"),
    latency("CpuPerLookup", "mean CPU time of a lookup in the engine's processes", observe_cpu, "ratio", timed="cpu"),
    latency(
        "CpuPercentile95",
        "95 % of the lookups took at most this CPU time (nearest rank)",
        observe_cpu,
        quantile=0.95,
        timed="cpu",
    ),
    right_within(100),
    right_within(200),
)
