"""The time that a person waits, in milliseconds, over every lookup of every evaluated session.

A time-out counts as the time limit; a lookup that crashed has no latency. If sessions were asked in several rounds, the
latency of a lookup is its median over the rounds.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal

from ci_eval.core.contracts import Metric, Observation
from ci_eval.core.model import MetricInfo, SessionScore


def observe(session: SessionScore) -> Sequence[Observation]:
    """Return the latency of each lookup."""
    return [(lookup.latency, 1.0) for lookup in session.lookups]


def observe_cold(session: SessionScore) -> Sequence[Observation]:
    """Return the latency of the first lookup in a file that was just opened: the engine has to read it before it
    answers."""
    return [(lookup.latency, 1.0) for lookup in session.lookups if lookup.cold]


def latency(
    name: str,
    summary: str,
    statistic: Literal["ratio", "quantile"] = "quantile",
    quantile: float = 1.0,
    observed: Callable[[SessionScore], Sequence[Observation]] = observe,
) -> Metric:
    """Return a metric over the latencies of all lookups."""
    info = MetricInfo(name=name, summary=summary, unit="ms", better="lower")
    return Metric(
        info=info, observe=observed, order=(8,), statistic=statistic, quantile=quantile, of="either", timed=True
    )


METRICS: tuple[Metric, ...] = (
    latency("MeanLatency", "mean time of a lookup", "ratio"),
    latency("MaxLatency", "time of the slowest lookup"),
    latency("LatencyPercentile50", "half of the lookups took at most this (nearest rank)", quantile=0.5),
    latency("LatencyPercentile95", "95 % of the lookups took at most this (nearest rank)", quantile=0.95),
    latency(
        "FirstCallLatency", "mean time of the first lookup after a file was opened", "ratio", observed=observe_cold
    ),
)
