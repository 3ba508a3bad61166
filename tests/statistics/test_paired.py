"""Intervals and p-values of several differences at once, against scipy, and what is concluded from them."""

from __future__ import annotations

import numpy as np
import pytest

from ci_eval.core.model import Difference, MetricInfo, Verdict
from ci_eval.core.statistics.paired import (
    FEWEST_PROJECTS_ALIKE,
    Interval,
    Spread,
    bias_text,
    expected_maximum,
    make_intervals,
    over_projects,
    verdict,
    winners_bias,
)


def spread(difference: float, error: float, df: float = np.inf, widen: float = 0.0) -> Spread:
    known = (np.array([number]) for number in (difference, difference, error, df, widen))
    return Spread(*known)


def test_one_difference_has_the_interval_and_p_value_of_t() -> None:
    """Recorded: scipy 1.17 `stats.t.interval(0.95, 9, 2, 1)`, `2 * stats.t.sf(2, 9)`."""
    (found,) = make_intervals(spread(2.0, 1.0, df=9))
    assert (found.low, found.high) == pytest.approx((-0.26215716279820535, 4.262157162798205))
    assert found.p == pytest.approx(0.07655282377070101)


def test_an_interval_excludes_0_exactly_where_its_p_value_is_small() -> None:
    random = np.random.default_rng(1)
    for turn in range(40):
        (found,) = make_intervals(spread(random.normal(0, 2), 1.0, df=5 + turn, widen=0.2))
        assert (found.low > 0 or found.high < 0) == (found.p < 0.05)


@pytest.mark.parametrize(("difference", "widen", "p"), [(0.3, 0.1, 0.0), (0.0, 0.0, 1.0), (0.1, 0.2, 1.0)])
def test_an_exact_difference_reaches_as_far_as_what_may_differ_unseen(
    difference: float, widen: float, p: float
) -> None:
    (found,) = make_intervals(spread(difference, 0.0, widen=widen))
    assert (found.low, found.high, found.p) == (difference - widen, difference + widen, p)


def test_tests_of_many_parts_are_adjusted_by_their_number() -> None:
    one = spread(3.0, 1.0)
    (alone,), (among,) = make_intervals(one), make_intervals(one, tests=10)
    assert among.p == pytest.approx(10 * alone.p)
    assert among.high - among.low > alone.high - alone.low


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


SHARE = MetricInfo(name="Recall", summary="", unit="share", better="higher")
OTHER = MetricInfo(name="RecallAt1", summary="", unit="share", better="higher")


def test_the_interval_is_that_of_student() -> None:
    found = over_projects({"Recall": [0.5, 0.6, 0.7, 0.8, 0.9]}, [SHARE])["Recall"]
    # t(0.975, 4) = 2.776445, s = 0.1581139.
    assert (found.mean, found.low, found.high) == pytest.approx((0.7, 0.7 - 0.196324, 0.7 + 0.196324), abs=1e-5)


def test_several_metrics_take_wider_intervals() -> None:
    values = [0.5, 0.6, 0.7, 0.8, 0.9]
    (alone,) = over_projects({"Recall": values}, [SHARE]).values()
    both = over_projects({"Recall": values, "RecallAt1": values}, [SHARE, OTHER])["Recall"]
    assert both.low is not None
    assert alone.low is not None
    assert both.low < alone.low


@pytest.mark.parametrize(
    ("values", "verdict", "why"),
    [
        ([0.02, 0.03, 0.025, 0.03, 0.02], Verdict.BETTER, ""),
        ([-0.02, -0.03, -0.025, -0.03, -0.02], Verdict.WORSE, ""),
        ([0.02, -0.03, 0.025, -0.03, 0.02], Verdict.NOT_SHOWN, ""),
        ([0.0001, -0.0001, 0.0, 0.0001, 0.0], Verdict.NOT_SHOWN, "a verdict on other projects takes 60"),
        ([0.0001, -0.0001] * FEWEST_PROJECTS_ALIKE, Verdict.EQUIVALENT, ""),
        ([0.02, 0.03, 0.04, 0.05], Verdict.NOT_COMPARABLE, "takes 5 projects with this figure; there are 4"),
        ([0.0] * 9, Verdict.NOT_COMPARABLE, "the same in all projects"),
        ([], Verdict.NOT_COMPARABLE, "there are 0"),
    ],
)
def test_verdicts_are_of_other_projects(values: list[float], verdict: Verdict, why: str) -> None:
    found = over_projects({"Recall": values}, [SHARE], judged=True)["Recall"]
    assert (found.verdict, found.n) == (verdict, len(values))
    assert why in found.why


def test_intervals_hold_the_truth_as_often_as_they_say() -> None:
    source = np.random.default_rng(1)
    held = 0
    for _ in range(400):
        found = over_projects({"Recall": [*source.normal(0.5, 0.1, 6)]}, [SHARE])["Recall"]
        held += found.low is not None and found.high is not None and found.low < 0.5 < found.high
    assert 0.92 < held / 400 < 0.98
