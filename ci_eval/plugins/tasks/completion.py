"""A task in which a token is completed at the caret; the token is in the list or not."""

from __future__ import annotations

from bisect import bisect_left

from ci_eval.core.contracts import Band, Task
from ci_eval.core.equality import each_token, rank, status
from ci_eval.core.model import SessionScore
from ci_eval.core.scoring import rank_of

BANDS = (
    Band(name="1", outcome="first", label="rank 1"),
    Band(name="2-5", outcome="near", label="rank 2-5"),
    Band(name="6-10", outcome="low", label="rank 6-10"),
    Band(name="11+", outcome="low", label="rank 11+"),
    Band(name="absent", outcome="absent"),
)
LAST = (1, 5, 10)
"""The last rank of each band that has one."""


def score(session: SessionScore) -> float:
    """Return 1 / rank, or 0 if the text is absent."""
    position = rank_of(session)
    return 1 / position if position else 0.0


def band(session: SessionScore) -> Band:
    """Return the band of the rank at the last lookup."""
    position = rank_of(session)
    if position is None:
        return BANDS[-1]
    return BANDS[bisect_left(LAST, position)]


TASK = Task(
    name="completion",
    summary="a token at the caret, with what is typed of it",
    unit="tokens",
    items=each_token,
    rank=rank,
    status=status,
    score=score,
    bands=BANDS,
    band=band,
    legend={
        "absent": "expected text absent",
        "low": "rank 6 or lower",
        "near": "rank 2 to 5",
        "first": "rank 1",
    },
    heading="Where the expected text stood",
)
