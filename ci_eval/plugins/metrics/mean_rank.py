"""The rank of the expected text. Ranks are 1-based, at the last lookup of a session."""

from __future__ import annotations

from collections.abc import Sequence
from math import log2

from ci_eval.core.contracts import Metric, Observation
from ci_eval.core.model import MetricInfo, SessionScore
from ci_eval.core.scoring import mean_over_sessions, rank_of


def observe_rank(session: SessionScore) -> Sequence[Observation]:
    """Return the rank in a session that found the text: read it beside Recall, which counts these sessions."""
    rank = rank_of(session)
    return [] if rank is None else [(float(rank), 1.0)]


def reciprocal_rank(session: SessionScore) -> float:
    """Return 1 / rank, 0 if absent."""
    rank = rank_of(session)
    return 0.0 if rank is None else 1 / rank


def gain(session: SessionScore) -> float:
    """Return 1 / log2(1 + rank), 0 if absent: NDCG if one item is relevant."""
    rank = rank_of(session)
    return 0.0 if rank is None else 1 / log2(1 + rank)


METRICS: tuple[Metric, ...] = (
    Metric(
        info=MetricInfo(
            name="MeanRank",
            summary="mean place (1 = first) of the expected text, over the sessions that found it",
            unit="rank",
            better="lower",
            bounds=(1.0, None),
        ),
        observe=observe_rank,
        order=(4,),
        of_the_user=True,
        found_by_both=True,
    ),
    mean_over_sessions(
        "MeanReciprocalRank",
        "mean of 1/place of the expected text, 0 where it was absent",
        reciprocal_rank,
        "score",
        order=(4,),
        of_the_user=True,
    ),
    mean_over_sessions(
        "NDCG",
        "mean of 1/log2(1 + place) of the expected text, 0 where it was absent",
        gain,
        "score",
        order=(4,),
        of_the_user=True,
    ),
)
