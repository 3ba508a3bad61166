"""Two samples of categories."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ci_eval.core.statistics.contingency import chi_square, total_variation, upper_tail
from tests.needs import need_module


@pytest.fixture(scope="module")
def scipy() -> Any:
    # Not at the top: the import takes most of a second, also in processes that collect this file and run none of it.
    return need_module("scipy.stats")


@given(statistic=st.floats(0, 2_000), df=st.integers(1, 300))
def test_the_tail_is_that_of_scipy(scipy: Any, statistic: float, df: int) -> None:
    assert upper_tail(statistic, df) == pytest.approx(scipy.chi2.sf(statistic, df), rel=1e-9, abs=1e-13)


@given(pairs=st.lists(st.tuples(st.integers(20, 900), st.integers(20, 900)), min_size=2, max_size=9))
def test_the_test_is_that_of_scipy_where_no_category_is_rare(scipy: Any, pairs: list[tuple[int, int]]) -> None:
    samples = [{str(number): pair[side] for number, pair in enumerate(pairs)} for side in (0, 1)]
    found = chi_square(samples[0], samples[1])
    wanted = scipy.chi2_contingency([list(each.values()) for each in samples], correction=False)
    if wanted.expected_freq.min() >= 5:
        assert found is not None
        assert (found.statistic, found.df) == pytest.approx((wanted.statistic, wanted.dof))
        assert found.p == pytest.approx(wanted.pvalue, rel=1e-9, abs=1e-13)


def test_rare_categories_count_as_one() -> None:
    found = chi_square({"a": 100, "b": 1, "c": 2, "d": 9}, {"a": 100, "e": 3, "d": 9})
    assert found is not None
    assert found.df == 1
    assert chi_square({"a": 100, "b": 1}, {"a": 100}) is None or found.df == 1
    assert chi_square({"a": 5}, {"a": 7}) is None
    assert chi_square({}, {"a": 7, "b": 100}) is None


def test_total_variation_is_half_of_all_differences() -> None:
    assert total_variation({"a": 1, "b": 1}, {"a": 2, "b": 2}) == 0
    assert total_variation({"a": 3}, {"b": 5}) == 1
    assert total_variation({"a": 1, "b": 3}, {"a": 1, "b": 1}) == pytest.approx(0.25)
    assert total_variation({}, {"a": 1}) is None


@given(st.lists(st.integers(1, 999), min_size=1), st.lists(st.integers(1, 999), min_size=1))
def test_samples_without_a_common_category_are_exactly_1_apart(first: list[int], second: list[int]) -> None:
    made = {f"a{number}": count for number, count in enumerate(first)}
    seen = {f"b{number}": count for number, count in enumerate(second)}
    assert total_variation(made, seen) == 1
