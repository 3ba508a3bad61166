"""A task in which one token of the code, of any kind, is masked and predicted from the surrounding code."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import log2

from ci_eval.core.contracts import Band, Task
from ci_eval.core.model import MASKED, SessionScore
from ci_eval.core.model.sessions import status
from ci_eval.core.scoring import each_token, grades_of, rank, rank_of

GRADED = 10

BANDS = (
    Band(name="exact, first", outcome="first"),
    Band(name="half of it or more", outcome="near"),
    Band(name="less than half", outcome="low"),
    Band(name="nothing of it", outcome="absent"),
)


def summarise_scores(scores: Sequence[Mapping[str, float]]) -> Mapping[str, float]:
    """Summarise one grader's scores of the predictions (best first). No prediction counts as an empty text.

    `f1` is the score of the first prediction, and `f1.best` the highest score. `f1.reciprocalRank` is the maximum of
    F1 / rank, where an exact prediction has F1 = 1. `f1.ndcg` sums what each prediction adds to the highest F1 so far,
    divided by log2(1 + rank). The ideal is always an exact prediction at rank 1; otherwise a poor list would be
    measured against the best order of the same list.
    """
    best = reciprocal = gain = 0.0
    for position, grades in enumerate(scores, 1):
        if not (f1 := grades["f1"]):
            continue
        reciprocal = max(reciprocal, f1 / position)
        if f1 > best:
            gain += (f1 - best) / log2(1 + position)
            best = f1
    return {"f1": scores[0]["f1"], "f1.best": best, "f1.reciprocalRank": reciprocal, "f1.ndcg": gain}


def score(session: SessionScore) -> float:
    """Return the graded reciprocal rank: the maximum of (F1 of sub-tokens) / rank over the predictions."""
    return grades_of(session).get("f1.reciprocalRank", 0.0)


def band(session: SessionScore) -> Band:
    close = score(session)
    return BANDS[0 if rank_of(session) == 1 else 1 if close >= 0.5 else 2 if close else 3]


TASK = Task(
    name="tokens",
    summary="any one token of the code, masked: names, definitions, literals, operators, punctuation, keywords",
    unit=MASKED,
    items=each_token,
    rank=rank,
    status=status,
    score=score,
    bands=BANDS,
    band=band,
    legend={
        "absent": "no sub-token in common",
        "low": "graded reciprocal rank below a half",
        "near": "graded reciprocal rank of a half or more",
        "first": "exactly what was masked",
    },
    heading="How close the predictions came",
    every_token=True,
    graders=("subtoken-f1", "subtoken-lcs"),
    graded=GRADED,
    summed=summarise_scores,
)
