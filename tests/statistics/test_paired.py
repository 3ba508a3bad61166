"""Intervals and p-values of several differences at once, against scipy, and what is concluded from them."""

from __future__ import annotations

import numpy as np
import pytest

from ci_eval.core.model import Difference, Verdict
from ci_eval.core.statistics.paired import (
    Interval,
    Spread,
    bias_text,
    expected_maximum,
    joint,
    singly,
    verdict,
    winners_bias,
)
from ci_eval.core.statistics.student import Floats


def spread(differences: Floats, scores: Floats, df: float = np.inf) -> Spread:
    error = np.sqrt((scores**2).sum(axis=0))
    return Spread(
        np.zeros(len(differences)), differences, differences, error, np.full(len(differences), df), scores.T @ scores
    )


CORRELATED = np.linalg.cholesky(np.array([[1, 0.8, 0.3], [0.8, 1, 0.5], [0.3, 0.5, 1]])).T


def test_one_difference_has_the_interval_and_p_value_of_t() -> None:
    """Recorded: scipy 1.17 `stats.t.interval(0.95, 9, 2, 1)`, `2 * stats.t.sf(2, 9)`."""
    (found,) = singly(spread(np.array([2.0]), np.array([[1.0]]), df=9))
    assert (found.low, found.high) == pytest.approx((-0.26215716279820535, 4.262157162798205))
    assert found.p == pytest.approx(0.07655282377070101)


def test_several_reach_as_far_as_the_largest_of_them_would() -> None:
    """Recorded: scipy 1.17 `multivariate_normal(cov).cdf(upper, lower_limit)`, solved for 0.95."""
    found = joint(spread(np.array([1.0, 2.0, 2.5]), CORRELATED), range(3))
    assert [each.high - each.low for each in found] == pytest.approx([2 * 2.3230631] * 3, rel=0.01)
    assert [each.p for each in found] == pytest.approx([0.5923, 0.1077, 0.03144], rel=0.05)


def test_an_interval_excludes_0_exactly_where_its_p_value_is_small() -> None:
    random = np.random.default_rng(1)
    for turn in range(40):
        tried = spread(random.normal(0, 2, 3), CORRELATED, df=5 + turn)
        for each in joint(tried, range(3)):
            assert (each.low > 0 or each.high < 0) == (each.p < 0.05)


def test_what_moves_together_costs_no_more_than_one() -> None:
    same = spread(np.array([2.0, 2.0]), np.array([[1.0, 1.0]]))
    assert joint(same, range(2))[0].p == pytest.approx(singly(same)[0].p, rel=0.05)


def test_where_nothing_is_uncertain_the_interval_is_the_difference() -> None:
    found = joint(spread(np.array([0.3, 0.0]), np.zeros((1, 2))), range(2))
    assert [(each.low, each.high, each.p) for each in found] == [(0.3, 0.3, 0.0), (0.0, 0.0, 1.0)]


def test_tests_of_many_parts_are_adjusted_by_their_number() -> None:
    one = spread(np.array([3.0]), np.array([[1.0]]))
    (alone,), (among,) = singly(one), singly(one, tests=10)
    assert among.p == pytest.approx(10 * alone.p)
    assert among.high - among.low > alone.high - alone.low


def test_a_rare_value_keeps_a_p_value_above_0() -> None:
    found = joint(spread(np.array([8.0, 0.0, 0.0]), CORRELATED), range(3))
    assert 0 < found[0].p < 1e-10


@pytest.mark.parametrize(
    ("low", "high", "difference", "better", "expected"),
    [
        (0.01, 0.03, 0.02, "higher", Verdict.BETTER),
        (-0.03, -0.01, -0.02, "higher", Verdict.WORSE),
        (0.01, 0.03, 0.02, "lower", Verdict.WORSE),
        (-0.01, 0.05, 0.02, "higher", Verdict.NOT_SHOWN),
        (-0.002, 0.004, 0.001, "higher", Verdict.EQUIVALENT),
        (0.0001, 0.0009, 0.0005, "higher", Verdict.EQUIVALENT),
        (0.01, 0.03, 0.02, "neither", Verdict.NOT_COMPARABLE),
    ],
)
def test_the_verdict_follows_from_interval_floor_and_margin(
    low: float, high: float, difference: float, better: str, expected: Verdict
) -> None:
    assert verdict(Interval(low, high, 0.01, 0.01), difference, "share", better) is expected


def test_of_other_code_equivalent_takes_a_narrower_interval() -> None:
    narrow, wide = (Interval(-half, half, 1, 0) for half in (0.003, 0.004))
    assert verdict(wide, 0.0, "share", "higher") is Verdict.EQUIVALENT
    assert verdict(wide, 0.0, "share", "higher", stretch=1.5) is Verdict.NOT_SHOWN
    assert verdict(narrow, 0.0, "share", "higher", stretch=1.5) is Verdict.EQUIVALENT


@pytest.mark.parametrize(("count", "expected"), [(1, 0), (2, 0.5642), (3, 0.8463), (5, 1.1630), (8, 1.4236)])
def test_the_largest_of_several_normal_variables(count: int, expected: float) -> None:
    """Harter 1961, "Expected values of normal order statistics", table 1."""
    assert expected_maximum(count) == pytest.approx(expected, abs=2e-4)


def test_the_bias_of_the_winner_is_that_of_simulated_winners() -> None:
    random = np.random.default_rng(2)
    shared, error = random.normal(0, 3, (20_000, 1)), 0.6
    overestimated = (shared + random.normal(0, error, (20_000, 5))).max(axis=1) - shared[:, 0]
    reach = 1.96 * error * 2**0.5
    pair = Difference(base=0, new=0, difference=0, low=-reach, high=reach, detectable=reach + 0.8416 * error * 2**0.5)
    assert winners_bias([pair] * 10, 5) == pytest.approx(overestimated.mean(), rel=0.02)


def test_of_two_or_where_all_is_exact_there_is_nothing_to_say() -> None:
    exact = Difference(base=0, new=0, difference=0, low=0, high=0, state="exact")
    assert winners_bias([exact], 5) is None
    assert bias_text(None, 5, "share") == ""


def test_the_sentence_names_the_size_and_what_to_do() -> None:
    said = bias_text(0.0071, 5, "share")
    assert "if all 5 evaluations were equally good, the best one would look about 0.71 points better" in said
    assert "another interpret.seed" in said
