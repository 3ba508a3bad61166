"""The share of answers that are right and in time: top-1 under a deadline, which late answers miss.

100 ms is what feels instantaneous (Nielsen 1993, after Miller 1968); by 200 ms a fast typist has pressed the next key.
"""

from __future__ import annotations

from ci_eval.core.contracts import Metric
from ci_eval.core.model import MetricInfo, SessionScore
from ci_eval.core.scoring import evaluated, rank_of


def right_within(budget: int) -> Metric:
    """Return the metric for answers of at most `budget` ms whose first suggestion is the expected text; others are a
    miss."""

    def observe(session: SessionScore) -> list[tuple[float, float]]:
        if not evaluated(session):
            return []
        # A late answer is a miss, since the user has typed on.
        return [(float(rank_of(session) == 1 and session.lookups[session.until - 1].latency <= budget), 1.0)]

    summary = f"share of sessions in which the expected text stood first, within {budget} ms"
    info = MetricInfo(name=f"RightWithin{budget}ms", summary=summary, unit="share", better="higher", timed=True)
    return Metric(info=info, observe=observe, order=(7,), timed=True, of_the_user=True)


METRICS: tuple[Metric, ...] = (right_within(100), right_within(200))
