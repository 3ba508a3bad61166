"""Sub-tokens in any order, and in the same one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ci_eval.core.base.subtokens import longest_common
from ci_eval.core.catalogs import graders
from ci_eval.core.contracts import Pairing

TARGET = "transformSearchResponse"
SAME_ORDER = {
    "modifySearchResponseData": (0.5, 2 / 3, 0.5714285714285714),  # the notebook's own example
    "modifySearchResponse": (2 / 3, 2 / 3, 2 / 3),
    "": (0, 0, 0),
    "x": (0, 0, 0),
}
WORDS = st.lists(st.sampled_from("abcd"), max_size=8)


def scores(grader: str, reference: str, hypothesis: str) -> tuple[float, ...]:
    found: Mapping[str, float] = graders.CATALOG.load(grader).grade(Pairing(reference=reference, hypothesis=hypothesis))
    assert list(found) == ["precision", "recall", "f1"]
    return tuple(found.values())


@pytest.mark.parametrize("grader", ["subtoken-f1", "subtoken-lcs"])
@pytest.mark.parametrize(("hypothesis", "expected"), SAME_ORDER.items())
def test_order_does_not_matter_where_it_is_kept(
    grader: str, hypothesis: str, expected: tuple[float, float, float]
) -> None:
    assert scores(grader, TARGET, hypothesis) == pytest.approx(expected, abs=1e-12)


def test_order_matters_to_the_one_that_looks_at_it() -> None:
    assert scores("subtoken-f1", TARGET, "responseSearch") == pytest.approx((1, 2 / 3, 0.8))
    assert scores("subtoken-lcs", TARGET, "responseSearch") == pytest.approx((0.5, 1 / 3, 0.4))


@pytest.mark.parametrize("grader", ["subtoken-f1", "subtoken-lcs"])
def test_a_word_counts_as_often_as_it_is_expected(grader: str) -> None:
    assert scores(grader, "getGetValue", "getValue") == pytest.approx((1, 2 / 3, 0.8))
    assert scores(grader, "get_get_x", "get_x_x") == pytest.approx((2 / 3, 2 / 3, 2 / 3))


@pytest.mark.parametrize("grader", ["subtoken-f1", "subtoken-lcs"])
def test_names_without_a_word_are_compared_as_they_are(grader: str) -> None:
    assert scores(grader, "_", "_") == (1, 1, 1)
    assert scores(grader, "_", "$") == (0, 0, 0)
    assert scores(grader, "_", "x") == scores(grader, "x", "_") == (0, 0, 0)


def plain_lcs(one: Sequence[str], other: Sequence[str]) -> int:
    rows = [[0] * (len(other) + 1) for _ in range(len(one) + 1)]
    for i, left in enumerate(one):
        for j, right in enumerate(other):
            rows[i + 1][j + 1] = rows[i][j] + 1 if left == right else max(rows[i][j + 1], rows[i + 1][j])
    return rows[-1][-1]


@given(WORDS, WORDS)
def test_the_longest_common_subsequence_is_that_of_the_plain_table(one: list[str], other: list[str]) -> None:
    assert longest_common(one, other) == plain_lcs(one, other)


@given(WORDS, WORDS)
def test_in_order_no_more_is_shared_than_in_any(one: list[str], other: list[str]) -> None:
    ordered = scores("subtoken-lcs", "_".join(one), "_".join(other))
    free = scores("subtoken-f1", "_".join(one), "_".join(other))
    assert all(a <= b for a, b in zip(ordered, free, strict=True))
    assert (free == (1, 1, 1)) == (Counter(one) == Counter(other))
