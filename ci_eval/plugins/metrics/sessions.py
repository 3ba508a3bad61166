"""The number of sessions behind the other figures."""

from __future__ import annotations

from collections.abc import Sequence

from ci_eval.core.contracts import Metric, Observation
from ci_eval.core.model import MetricInfo, SessionScore
from ci_eval.core.scoring import evaluated


def observe(session: SessionScore) -> Sequence[Observation]:
    """Return one observation per evaluated session; skipped ones do not count."""
    return [(1.0, 1.0)] if evaluated(session) else []


METRICS: tuple[Metric, ...] = (
    Metric(
        info=MetricInfo(name="Sessions", summary="evaluated sessions", unit="count", better="neither"),
        observe=observe,
        order=(0,),
        statistic="count",
        without=0.0,
        of="either",
    ),
)
