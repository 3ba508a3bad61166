"""Figures and intervals."""

from __future__ import annotations

import numpy as np
import pytest

from ci_eval.contracts import Metric
from ci_eval.model import MetricInfo
from ci_eval.support.stats import Observations, estimate, figure, nearest_rank

INFO = MetricInfo(name="X", summary="", unit="share", better="higher")
SHARE = Metric(info=INFO, observe=lambda session: [])
MEDIAN = Metric(info=INFO, observe=lambda session: [], statistic="quantile", quantile=0.5)


def observed(by_file: list[list[float]]) -> Observations:
    seen = Observations()
    for file, values in enumerate(by_file):
        seen.add(file, [(value, 1.0) for value in values])
    return seen


@pytest.mark.parametrize(("q", "value"), [(0.5, 2), (0.51, 3), (0.95, 4), (1.0, 4), (0.01, 1)])
def test_a_quantile_is_the_nearest_rank(q: float, value: float) -> None:
    assert nearest_rank(np.array([4.0, 1.0, 3.0, 2.0]), q) == value


def test_the_same_seed_gives_the_same_interval() -> None:
    seen = observed([list(map(float, np.random.default_rng(file).random(5))) for file in range(9)])
    assert estimate(SHARE, seen, 7) == estimate(SHARE, seen, 7)
    assert estimate(SHARE, seen, 7) != estimate(SHARE, seen, 8)


def test_sessions_that_agree_within_files_do_not_narrow_the_interval() -> None:
    random = np.random.default_rng(1)
    truth = random.integers(2, size=40)
    once = estimate(SHARE, observed([[value] for value in truth]), 0)
    often = estimate(SHARE, observed([[value] * 100 for value in truth]), 0)
    assert (once.low, once.high) == (often.low, often.high)


@pytest.mark.slow
@pytest.mark.parametrize("metric", [SHARE, MEDIAN], ids=["mean", "median"])
def test_the_interval_holds_the_truth_about_95_times_of_100(metric: Metric) -> None:
    random = np.random.default_rng(5)
    held = 0
    for seed in range(200):
        files = [list(random.normal(level, 1, 5)) for level in random.normal(10, 2, 40)]
        found = estimate(metric, observed(files), seed)
        assert found.low is not None
        assert found.high is not None
        held += found.low <= 10 <= found.high
    assert 0.90 <= held / 200 <= 0.99


def test_one_file_has_no_interval() -> None:
    found = estimate(SHARE, observed([[0, 1]]), 0)
    assert (found.value, found.low, found.n) == (0.5, None, 2)


def test_nothing_observed_has_no_figure() -> None:
    assert figure(SHARE, Observations()) is None


def test_ratios_divide_sums_and_do_not_average_files() -> None:
    assert figure(SHARE, observed([[1], [0, 0, 0]])) == 0.25
