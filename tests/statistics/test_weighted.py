"""Figures of a stratified sample."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from ci_eval.core.catalogs import metrics
from ci_eval.core.compare.judging import Judge
from ci_eval.core.compare.sums import FilterSums
from ci_eval.core.statistics.population import Stratum, unequal
from ci_eval.core.statistics.repeated.repeats import DETERMINISTIC
from ci_eval.core.statistics.student import Floats
from ci_eval.core.statistics.weighted import (
    ERRORS,
    StratumSums,
    covariance,
    figure,
    interval,
    moments,
    share_interval,
    total,
)
from tests.needs import need_module

ONES = np.ones


SHARE, RANK = (0.0, 1.0), (1.0, None)


def sample(*sizes: tuple[int, int]) -> list[Stratum]:
    """Return the strata; of each are given: sessions, and how many of them were asked."""
    return [Stratum(*size) for size in sizes]


def test_each_stratum_stands_for_all_its_sessions() -> None:
    strata = np.stack([moments(np.array([1.0, 0]), ONES(2)), moments(ONES(10), ONES(10))])
    assert figure(strata, sample((30, 2), (10, 10)))[0] == (15 + 10) / 40


def test_where_all_sessions_were_asked_the_figure_is_exact() -> None:
    strata = np.stack([moments(np.array([1.0, 0]), ONES(2))])
    assert interval(strata, sample((2, 2)), SHARE) == (0.5, 0.5)


@pytest.mark.parametrize("rank", [1.0, 3.0, 7 / 3])
def test_a_mean_without_a_bound_that_nothing_moves_is_itself(rank: float) -> None:
    strata = np.stack([moments(np.full(asked, rank), ONES(asked)) for asked in (50, 70)])
    assert interval(strata, sample((1000, 50), (100, 70)), RANK) == pytest.approx((rank, rank), abs=1e-15)
    one_other = strata + moments(np.array([rank + 1]), ONES(1))
    low, high = interval(one_other, sample((1000, 51), (100, 71)), RANK) or (0, 0)
    assert low < high


def test_sessions_in_which_nothing_is_observed_are_in_no_denominator() -> None:
    strata = np.stack([moments(np.array([1.0, 0, 0]), np.array([1.0, 1, 0]))])
    assert figure(strata, sample((30, 3)))[0] == 0.5
    assert figure(np.zeros((1, 5)), sample((30, 3))) == (None, np.inf)


def test_a_stratum_without_a_miss_may_still_have_some() -> None:
    strata = np.stack([moments(ONES(20), ONES(20)), moments(np.array([1.0, 0] * 10), ONES(20))])
    _, both = figure(strata, sample((1000, 20), (1000, 20)))
    _, other = figure(strata, sample((20, 20), (1000, 20)))
    assert both > other * (1020 / 2000) ** 2


def test_a_figure_of_one_is_not_exact_where_some_were_not_asked() -> None:
    """Rule of three: one miss among 50 unseen ones would be 3/50 at most."""
    value, variance = figure(np.stack([moments(ONES(50), ONES(50))]), sample((10_000, 50)))
    assert value == 1
    assert 1 / 50 < ERRORS * np.sqrt(variance) < 3 / 50


def test_the_interval_is_that_of_a_stratified_sample() -> None:
    """Cochran 1977, section 5.4, but for the session that is added."""
    values = np.array([1.0, 0] * 200)
    variance = figure(np.stack([moments(values, ONES(400))]), sample((800, 400)))[1]
    assert ERRORS * np.sqrt(variance) == pytest.approx(1.96 * np.sqrt(0.25 / 400 * (1 - 400 / 800)), rel=0.005)


@pytest.mark.parametrize(("right", "asked"), [(0, 40), (1, 40), (27, 1000), (500, 1000), (999, 1000), (1000, 1000)])
def test_the_interval_of_a_share_is_the_usual_one_and_the_score_interval_of_scipy(right: int, asked: int) -> None:
    scipy = need_module("scipy.stats")
    value = right / asked
    reach = ERRORS * (np.sqrt(value * (1 - value) / asked) or 1 / asked)
    score = scipy.binomtest(right, asked).proportion_ci(method="wilson")
    expected = (max(min(score.low, value - reach), 0), min(max(score.high, value + reach), 1))
    assert share_interval(value, reach) == pytest.approx(expected, rel=1e-9, abs=1e-12)


def test_sessions_that_are_all_alike_have_the_score_interval() -> None:
    found = interval(np.stack([moments(ONES(50), ONES(50))]), sample((10**9, 50)), SHARE)
    assert found == pytest.approx((50 / (50 + ERRORS**2), 1))


def test_the_mean_over_all_samples_is_the_figure_of_all_sessions() -> None:
    first, second = [0.0, 1.0, 1.0], [0.0, 0.0, 0.0, 1.0]
    found = []
    for one, other in product(range(3), range(4)):
        strata = [moments(np.array([first[one]]), ONES(1)), moments(np.array([second[other]]), ONES(1))]
        found.append(figure(np.stack(strata), sample((3, 1), (4, 1)))[0])
    assert np.mean(np.array(found, dtype=float)) == pytest.approx(3 / 7)


METRICS = [metric for metric in metrics.load() if metric.info.name == "RecallAt1"]
SIZES, RATES, LOST = (9000, 1200, 400), (0.4, 0.6, 0.8), (0.0, 0.05, 0.1)
LIMIT = 300


def project(random: np.random.Generator, sessions: int, rate: float, lost: float) -> Floats:
    """Hits of base and of new (sessions x 4)."""
    base = random.random(sessions) < rate
    new = np.where(random.random(sessions) < lost, False, base) | (random.random(sessions) < 0.02)
    ones = np.ones(sessions)
    return np.stack([base.astype(float), ones, new.astype(float), ones], axis=1)


def strata_of(samples: list[Floats]) -> list[StratumSums]:
    return [
        StratumSums(sessions, len(sample), sample.sum(axis=0)[None], sample.T @ sample)
        for sessions, sample in zip(SIZES, samples, strict=True)
    ]


def test_the_interval_of_unequal_projects_holds_the_difference_of_all_sessions() -> None:
    random = np.random.default_rng(3)
    worlds = [project(random, *each) for each in zip(SIZES, RATES, LOST, strict=True)]
    whole = np.concatenate(worlds).sum(axis=0)
    truth = whole[2] / whole[3] - whole[0] / whole[1]
    held, pooled = 0, []
    for _ in range(300):
        samples = [world[random.choice(len(world), LIMIT, replace=False)] for world in worlds]
        sums = FilterSums(figures=1)
        for sample in samples:
            sums.rows.append(sums.add(sample[:, None]))
        plain = sums.total[0]
        pooled.append(plain[2] / plain[3] - plain[0] / plain[1])
        sums.strata = strata_of(samples)
        sums.total = total(sums.strata)
        found = Judge(METRICS, LIMIT / max(SIZES), repeats=DETERMINISTIC).filter(sums)
        low, high = found["RecallAt1"].low, found["RecallAt1"].high
        assert low is not None
        assert high is not None
        held += low <= truth <= high
        assert found["RecallAt1"].state == "weighted"
    assert 0.92 <= held / 300 <= 0.985
    assert abs(np.mean(pooled) - truth) > 0.02


def test_a_project_of_which_all_was_asked_adds_nothing_to_the_error() -> None:
    rows = np.array([[1.0, 1], [0, 1]])
    all_of_it = StratumSums(2, 2, rows.sum(axis=0)[None], rows.T @ rows)
    found = covariance([all_of_it], np.array([[0.5], [-0.25]]), np.array([0.5]), finite=True)
    assert found[0, 0] == 0


@pytest.mark.parametrize(
    ("shares", "apart"), [([0.5, 0.5], False), ([0.48, 0.5], False), ([0.1, 0.5], True), ([], False)]
)
def test_shares_that_chance_explains_need_no_weights(shares: list[float], apart: bool) -> None:
    assert unequal(shares) is apart
