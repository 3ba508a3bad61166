"""A task in which a name is completed whose import is missing: acceptance has to import it from the right module."""

from __future__ import annotations

from ci_eval.core.contracts import Task
from ci_eval.core.model.sessions import status
from ci_eval.core.scoring import RANK_BANDS, band_of_rank, each_token, rank_of_import, reciprocal_rank

TASK = Task(
    name="imports",
    summary="a name that is not imported yet: is it offered, with the right import?",
    unit="uses of imports",
    items=each_token,
    of_imports=True,
    rank=rank_of_import,
    status=status,
    score=reciprocal_rank,
    bands=RANK_BANDS,
    band=band_of_rank,
    legend={
        "absent": "not offered with the right import",
        "low": "rank 6 or lower",
        "near": "rank 2 to 5",
        "first": "rank 1",
    },
    heading="Where the name stood with the right import",
)
