"""How sessions of completion are classed."""

from __future__ import annotations

import pytest

from ci_eval.core.model import Kind, LookupScore, Properties, SessionScore, Status
from ci_eval.core.scoring import band_of_rank


@pytest.mark.parametrize(
    ("rank", "band"),
    [(1, "1"), (2, "2-5"), (5, "2-5"), (6, "6-10"), (10, "6-10"), (11, "11+"), (900, "11+"), (None, "absent")],
)
def test_the_rank_decides_the_band(rank: int | None, band: str) -> None:
    session = SessionScore(
        id="1",
        file="a.py",
        offset=0,
        expected_text="x",
        properties=Properties(kind=Kind.FIELD),
        status=Status.OK if rank else Status.NO_MATCH,
        lookups=(LookupScore(prefix="", total=1000, rank=rank, latency=1.0),),
    )
    assert band_of_rank(session).name == band
