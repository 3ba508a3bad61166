"""The trust in the suggestions that are offered, and the balance of that with recall."""

from __future__ import annotations

from collections.abc import Sequence

from ci_eval.core.contracts import Metric, Observation
from ci_eval.core.model import FAILED, MetricInfo, SessionScore
from ci_eval.core.scoring import evaluated, has_answer, rank_of


def precision(session: SessionScore) -> Sequence[Observation]:
    """Return found / answered: an empty or failed answer is not in the denominator. The figure is 0 if nothing was
    offered at all."""
    return [(float(rank_of(session) is not None), 1.0)] if has_answer(session) else []


def suggestion_precision(session: SessionScore) -> Sequence[Observation]:
    """Return relevant suggestions / displayed suggestions, over the last lists.

    This is the precision of the thesis, |made and relevant| / |made|. At most one suggestion of a list is relevant, so
    the figure says above all how long the lists are.
    """
    if session.status in FAILED or not session.lookups or not session.lookups[-1].total:
        return []
    return [(float(rank_of(session) is not None), float(session.lookups[-1].total))]


def f_measure(session: SessionScore) -> Sequence[Observation]:
    """Return 2PR / (P + R), which is 2 · found / (answered + asked): a ratio of sums over all evaluated sessions."""
    if not evaluated(session):
        return []
    # The harmonic mean of two ratios cannot be summed over sessions; this ratio of sums equals it.
    return [(2.0 * (rank_of(session) is not None), 1.0 + has_answer(session))]


METRICS: tuple[Metric, ...] = (
    Metric(
        info=MetricInfo(
            name="Precision",
            summary="share of non-empty lists that contain the expected text",
            unit="share",
            better="higher",
        ),
        observe=precision,
        order=(3,),
        without=0.0,
        of_the_user=True,
    ),
    Metric(
        info=MetricInfo(
            name="SuggestionPrecision",
            summary="share of all suggestions shown that are the expected text",
            unit="share",
            better="higher",
        ),
        observe=suggestion_precision,
        order=(3,),
        without=0.0,
        of_the_user=True,
    ),
    Metric(
        info=MetricInfo(
            name="FMeasure", summary="harmonic mean of Precision and Recall", unit="share", better="higher"
        ),
        observe=f_measure,
        order=(3,),
        of_the_user=True,
    ),
)
