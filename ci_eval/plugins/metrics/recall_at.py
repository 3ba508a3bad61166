"""The share of sessions with the expected text: at all, or near the top. Every evaluated session is in the
denominator."""

from __future__ import annotations

from ci_eval.core.contracts import Metric
from ci_eval.core.model import SessionScore
from ci_eval.core.scoring import mean_over_sessions, rank_of, recall_within


def found(session: SessionScore) -> float:
    """Return 1 if the expected text is anywhere in the list."""
    return float(rank_of(session) is not None)


METRICS: tuple[Metric, ...] = (
    recall_within(1),
    recall_within(5),
    mean_over_sessions(
        "Recall",
        "share of sessions in which the expected text was suggested at all",
        found,
        order=(2,),
        of_the_user=True,
    ),
)
