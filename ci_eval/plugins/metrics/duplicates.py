"""The share of a list that repeats what stands above it."""

from __future__ import annotations

from collections.abc import Sequence

from ci_eval.core.contracts import Metric, Observation
from ci_eval.core.model import FAILED, MetricInfo, SessionScore


def duplicate_share(session: SessionScore) -> Sequence[Observation]:
    """Return the share of the suggestions in the last list of a session that would leave the same text as one above
    them.

    Sessions without a list are not in the denominator; each other session counts alike, however long its list is.
    """
    if session.status in FAILED or not session.lookups or not session.lookups[-1].total:
        return []
    last = session.lookups[-1]
    return [(last.duplicates / last.total, 1.0)]


METRICS: tuple[Metric, ...] = (
    Metric(
        info=MetricInfo(
            name="DuplicateShare",
            summary="share of a list that repeats a text standing above it, the mean over lists",
            unit="share",
            better="lower",
        ),
        observe=duplicate_share,
        order=(6,),
        of_the_user=True,
    ),
)
