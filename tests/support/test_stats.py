"""Figures and intervals."""

from __future__ import annotations

import numpy as np
import pytest

from ci_eval.contracts import Metric
from ci_eval.model import MetricInfo
from ci_eval.support.stats import Observations, estimate, figure, nearest_rank

INFO = MetricInfo(name="X", summary="", unit="share", better="higher")
SHARE = Metric(info=INFO, observe=lambda session: [])
TIMES = Metric(info=MetricInfo(name="T", summary="", unit="ms", better="lower"), observe=lambda session: [])
MEDIAN = Metric(info=INFO, observe=lambda session: [], statistic="quantile", quantile=0.5)


def observed(by_file: list[list[float]]) -> Observations:
    seen = Observations()
    for file, values in enumerate(by_file):
        seen.add(file, [(value, 1.0) for value in values])
    return seen


@pytest.mark.parametrize(("q", "value"), [(0.5, 2), (0.51, 3), (0.95, 4), (1.0, 4), (0.01, 1)])
def test_a_quantile_is_the_nearest_rank(q: float, value: float) -> None:
    assert nearest_rank(np.array([4.0, 1.0, 3.0, 2.0]), q) == value


def test_one_file_has_no_interval() -> None:
    found = estimate(SHARE, observed([[0, 1]]))
    assert (found.value, found.low, found.n) == (0.5, None, 2)


def test_a_share_of_many_files_has_an_interval_around_it() -> None:
    found = estimate(SHARE, observed([[0, 1, place % 2] for place in range(40)]))
    assert found.low is not None
    assert found.high is not None
    assert found.low < 0.5 < found.high


@pytest.mark.parametrize("metric", [MEDIAN, TIMES], ids=["median", "mean time"])
def test_times_have_no_interval(metric: Metric) -> None:
    assert estimate(metric, observed([[0, 1, place] for place in range(40)])).low is None


def test_nothing_observed_has_no_figure() -> None:
    assert figure(SHARE, Observations()) is None


def test_ratios_divide_sums_and_do_not_average_files() -> None:
    assert figure(SHARE, observed([[1], [0, 0, 0]])) == 0.25
