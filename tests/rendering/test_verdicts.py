"""Verdicts as people read them."""

from __future__ import annotations

import pytest

from ci_eval.model import Difference, Verdict
from ci_eval.rendering.figures import TO
from ci_eval.rendering.verdicts import explained, interval_text, named, p_text, places, said, went
from ci_eval.tasks import completion, golf


def found(low: float | None, high: float | None, p: float | None = None, **more: object) -> Difference:
    return Difference(base=0.5, new=0.6, difference=0.1, low=low, high=high, p=p, **more)  # type: ignore[arg-type]


def test_a_verdict_has_a_sign_beside_its_words() -> None:
    assert [said(each) for each in (Verdict.BETTER, Verdict.NOT_SHOWN)] == ["▲ better", "? no difference shown"]


def test_a_reason_is_as_long_as_what_is_uncertain() -> None:
    assert explained(found(0.05, 0.15, 0.0001, why="clear"), "share") == "+5.00 pp to +15.00 pp; p < 0.001; clear"
    assert explained(found(0.1, 0.1), "share") == ""
    assert [interval_text(each, "share") for each in (found(0.1, 0.1), found(None, None))] == ["exact", "no interval"]
    assert [p_text(found(0, 1, p)) for p in (None, 0.04)] == ["", "p = 0.040"]


def test_a_metric_over_some_sessions_says_which() -> None:
    assert named("MeanRank", found(0, 1, n=1200, over="found by both")) == "MeanRank (1,200 found by both)"
    assert named("Recall", found(0, 1, n=1200)) == "Recall"


@pytest.mark.parametrize(
    ("rank", "status", "text"), [(1200, "ok", "1,200"), (None, "empty", "absent"), (None, "timeout", "timeout")]
)
def test_a_session_went_by_its_rank_or_failed(rank: int | None, status: str, text: str) -> None:
    assert went(completion.TASK, rank, 0.0, status) == text
    assert went(golf.TASK, rank, 0.25, status) == ("25%" if status != "timeout" else text)


def test_a_tie_has_a_range_of_places() -> None:
    assert places((2, 0, 0), (0, 1, 1)) == ("1", f"2{TO}3", f"2{TO}3")
    assert places((0, 1, 0), (0, 0, 1)) == (f"1{TO}3", f"1{TO}2", f"2{TO}3")
