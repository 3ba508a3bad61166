"""Proposals against what is expected."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ci_eval.core.queries.agreement import agreement


@pytest.mark.parametrize(
    ("proposed", "expected", "precision", "recall", "f1"),
    [
        ("a", "a", 1, 1, 1),
        ("a b", "a", 0.5, 1, 2 / 3),
        ("a x", "a b c", 0.5, 1 / 3, 0.4),
        ("x", "a", 0, 0, 0),
        ("", "a", 1, 0, 0),
        ("a a x", "a", 0.5, 1, 2 / 3),
    ],
)
def test_f1_of_sets(proposed: str, expected: str, precision: float, recall: float, f1: float) -> None:
    found = agreement(proposed.split(), expected.split())
    assert (found["precision"], found["recall"], found["f1"]) == pytest.approx((precision, recall, f1))


def test_a_ranking_is_cut_at_the_number_of_expected_calls() -> None:
    found = agreement(["x", "a", "b", "y"], {"a", "b"})
    assert found["rPrecision"] == 0.5
    assert found["reciprocalRank"] == 0.5
    assert [found[f"recall.{most}"] for most in (1, 3, 5)] == [0, 1, 1]


@given(st.lists(st.sampled_from("abcdef")), st.sets(st.sampled_from("abcdef"), min_size=1))
def test_everything_is_a_share_and_1_only_where_all_is_right(proposed: list[str], expected: set[str]) -> None:
    found = agreement(proposed, expected)
    assert all(0 <= value <= 1 for value in found.values())
    assert (found["f1"] == 1) == (set(proposed) == expected)
