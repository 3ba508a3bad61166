"""How often the expected text is there: at all, or near the top. Every evaluated session is in the denominator."""

from __future__ import annotations

from ci_eval.contracts import Metric
from ci_eval.model import SessionScore
from ci_eval.support.observing import mean_over_sessions, rank_of


def recall_at(k: int) -> Metric:
    """Share of sessions whose expected text is among the first `k`; empty and failed answers count as misses."""

    def hit(session: SessionScore) -> float:
        rank = rank_of(session)
        return float(rank is not None and rank <= k)

    place = "first" if k == 1 else f"among the first {k}"
    return mean_over_sessions(f"RecallAt{k}", f"share of sessions in which the expected text stood {place}", hit)


def found(session: SessionScore) -> float:
    """1 if the expected text is anywhere in the list."""
    return float(rank_of(session) is not None)


METRICS: tuple[Metric, ...] = (
    recall_at(1),
    recall_at(5),
    mean_over_sessions("Recall", "share of sessions in which the expected text was suggested at all", found),
)
