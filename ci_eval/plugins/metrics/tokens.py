"""The closeness of predictions to a masked token, in sub-tokens. Every evaluated session is in the denominator."""

from __future__ import annotations

from functools import partial

from ci_eval.core.contracts import Metric
from ci_eval.core.scoring import grades_of, mean_over_sessions, reciprocal_rank
from ci_eval.plugins.tasks.tokens import GRADED, TASK

_metric = partial(mean_over_sessions, unit="score", of=TASK.unit, order=(5,))


def mean(name: str, summary: str, grade: str) -> Metric:
    """Return the metric of a grade's mean over lookups; 0 if the engine failed or had no prediction."""
    return _metric(name, summary, lambda session: grades_of(session).get(grade, 0.0), shown=True)


METRICS: tuple[Metric, ...] = (
    mean(
        "GradedReciprocalRank",
        f"mean of the highest F1 of sub-tokens / place among the first {GRADED} predictions",
        "f1.reciprocalRank",
    ),
    mean("SubtokenF1At1", "mean F1 of sub-tokens of the first prediction", "f1"),
    mean("SubtokenF1Best", f"mean of the best F1 of sub-tokens among the first {GRADED} predictions", "f1.best"),
    mean(
        "GradedNDCG",
        f"NDCG of the first {GRADED} predictions: gain is what each adds to the best F1, the ideal an exact first one",
        "f1.ndcg",
    ),
    mean("SubtokenLcsAt1", "the same as SubtokenF1At1, sub-tokens in the right order", "subtoken-lcs.f1"),
    mean("SubtokenLcsBest", "the same as SubtokenF1Best, sub-tokens in the right order", "subtoken-lcs.f1.best"),
    mean(
        "GradedReciprocalRankInOrder",
        "the same as GradedReciprocalRank, sub-tokens in the right order",
        "subtoken-lcs.f1.reciprocalRank",
    ),
    # Only the masked text is relevant.
    _metric(
        "MeanAveragePrecision",
        "mean average precision of the exact text; one text being relevant, the mean reciprocal rank",
        reciprocal_rank,
    ),
)
