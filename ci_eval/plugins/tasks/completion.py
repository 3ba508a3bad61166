"""A task in which a token is completed at the caret; the token is in the list or not."""

from __future__ import annotations

from ci_eval.core.contracts import Task
from ci_eval.core.model.sessions import status
from ci_eval.core.scoring import RANK_BANDS, band_of_rank, each_token, rank, reciprocal_rank

TASK = Task(
    name="completion",
    summary="a token at the caret, with what is typed of it",
    unit="tokens",
    items=each_token,
    rank=rank,
    status=status,
    score=reciprocal_rank,
    bands=RANK_BANDS,
    band=band_of_rank,
    legend={
        "absent": "expected text absent",
        "low": "rank 6 or lower",
        "near": "rank 2 to 5",
        "first": "rank 1",
    },
    heading="Where the expected text stood",
)
