"""Figures and intervals."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ci_eval.contracts import Metric
from ci_eval.model import MetricInfo
from ci_eval.statistics.stats import Observations, area, estimate, figure, nearest_rank

INFO = MetricInfo(name="X", summary="", unit="share", better="higher")
SHARE = Metric(info=INFO, observe=lambda session: [])
TIMES = Metric(info=MetricInfo(name="T", summary="", unit="ms", better="lower"), observe=lambda session: [])
IN_TIME = Metric(info=INFO, observe=lambda session: [], timed=True)
MEDIAN = Metric(info=INFO, observe=lambda session: [], statistic="quantile", quantile=0.5)


def observed(by_file: list[list[float]]) -> Observations:
    seen = Observations()
    for file, values in enumerate(by_file):
        seen.add(file, [(value, 1.0) for value in values])
    return seen


@pytest.mark.parametrize(("q", "value"), [(0.5, 2), (0.51, 3), (0.95, 4), (1.0, 4), (0.01, 1)])
def test_a_quantile_is_the_nearest_rank(q: float, value: float) -> None:
    assert nearest_rank(np.array([4.0, 1.0, 3.0, 2.0]), q) == value


def test_one_file_says_nothing_of_other_code_and_all_of_itself() -> None:
    found = estimate(SHARE, observed([[0, 1]]), 1)
    assert (found.value, found.low, found.high, found.n) == (0.5, 0.5, 0.5, 2)
    assert (found.elsewhere.low, found.elsewhere.effective) == (None, 1)


def test_a_share_of_many_files_has_an_interval_of_other_code_around_it() -> None:
    found = estimate(SHARE, observed([[0, 1, place % 2] for place in range(40)]), 1).elsewhere
    assert found.low is not None
    assert found.high is not None
    assert found.low < 0.5 < found.high


def test_of_a_sample_of_sessions_the_figure_of_all_is_uncertain() -> None:
    found = estimate(SHARE, observed([[0, 1] * 50]), 0.5)
    assert (found.low, found.high) == pytest.approx((0.431, 0.569), abs=0.001)


@pytest.mark.parametrize("metric", [MEDIAN, TIMES, IN_TIME], ids=["median", "mean time", "share in time"])
def test_times_have_no_interval(metric: Metric) -> None:
    assert estimate(metric, observed([[0, 1, place] for place in range(40)]), 1).low is None


def test_nothing_observed_has_no_figure() -> None:
    assert figure(SHARE, Observations()) is None


def test_ratios_divide_sums_and_do_not_average_files() -> None:
    assert figure(SHARE, observed([[1], [0, 0, 0]])) == 0.25


@given(st.lists(st.tuples(st.integers(-3, 0), st.booleans()), max_size=30))
def test_the_area_is_the_share_of_pairs_in_which_what_is_right_scores_higher(seen: list[tuple[int, bool]]) -> None:
    right = [score for score, good in seen if good]
    wrong = [score for score, good in seen if not good]
    wins = [(one > other) + (one == other) / 2 for one in right for other in wrong]
    found = area(np.array([float(score) for score, _ in seen]), np.array([good for _, good in seen], dtype=bool))
    assert found == (pytest.approx(sum(wins) / len(wins)) if wins else None)
