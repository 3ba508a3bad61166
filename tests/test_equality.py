"""Exactly the expected text counts."""

from __future__ import annotations

import pytest

from ci_eval.core.equality import rank
from ci_eval.core.model import LookupScore, Status, Suggestion
from ci_eval.core.model.sessions import status


def shown(*texts: str) -> list[Suggestion]:
    return [Suggestion(text=text) for text in texts]


def test_of_equal_suggestions_the_first_counts() -> None:
    assert rank("b", "", shown("a", "b", "b")) == 2
    assert rank("b", "", shown("B", "bb")) is None


@pytest.mark.parametrize(
    ("total", "place", "expected"), [(3, 2, Status.OK), (3, None, Status.NO_MATCH), (0, None, Status.EMPTY)]
)
def test_a_session_is_as_its_last_lookup(total: int, place: int | None, expected: Status) -> None:
    earlier = LookupScore(prefix="", total=9, rank=1, latency=1.0)
    assert status([earlier, LookupScore(prefix="x", total=total, rank=place, latency=1.0)]) == expected
