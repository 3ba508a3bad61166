"""Figures of a stratified sample."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from ci_eval.core.catalogs import metrics
from ci_eval.core.compare.judging import Judge
from ci_eval.core.compare.sums import FilterSums
from ci_eval.core.statistics.population import Strata, Stratum
from ci_eval.core.statistics.repeated.repeats import DETERMINISTIC
from ci_eval.core.statistics.stats import Observations, estimate, pack_location
from ci_eval.core.statistics.student import Floats
from ci_eval.core.statistics.weighted import pool

METRICS = [metric for metric in metrics.load() if metric.info.name == "RecallAt1"]


def pooled_variance(sizes: list[int], asked: list[int], values: list[Floats]) -> float:
    """Return the variance of the mean over all sessions."""
    sample = [Stratum(*of) for of in zip(sizes, asked, strict=True)]
    weights = np.array([stratum.weight for stratum in sample]) / sum(sizes)
    total, squares = (np.array([(of**power).sum() for of in values]) for power in (1, 2))
    products, _ = pool(sample, weights, total[:, None], squares[:, None, None], np.ones((2, 1)), finite=True)
    return float(products[0, 0]) * max(1 - stratum.share for stratum in sample)


def test_the_variance_is_that_within_the_strata() -> None:
    """Cochran 1977, section 5.4."""
    values = [np.array([1.0, 0] * 200), np.array([1.0] * 60 + [0] * 240)]
    expected = (0.5**2 * 0.25 / 400 * (1 - 400 / 2000)) + 0.5**2 * 0.16 / 300 * (1 - 300 / 2000)
    assert pooled_variance([2000, 2000], [400, 300], values) == pytest.approx(expected, rel=0.01)


def test_the_mean_variance_of_small_samples_is_no_smaller_than_the_true_one() -> None:
    worlds, found = [np.array([0.0, 1, 1, 0, 0, 1]), np.array([0.0, 0, 0, 1])], []
    for first, second in product(product(range(6), repeat=2), range(4)):
        if first[0] != first[1]:
            found.append(pooled_variance([6, 4], [2, 1], [worlds[0][list(first)], worlds[1][[second]]]))
    truth = (0.6**2 * worlds[0].var(ddof=1) / 2 * (1 - 2 / 6)) + 0.4**2 * worlds[1].var(ddof=1) * (1 - 1 / 4)
    assert np.mean(found) >= 0.85 * truth


def test_a_stratum_of_which_all_was_asked_adds_nothing_to_the_error() -> None:
    random = np.random.default_rng(1)
    half, whole = [(random.random(size) < 0.5).astype(float) for size in (40, 30)]
    alone = pooled_variance([80, 30], [40, 30], [half, np.zeros(30)])
    assert pooled_variance([80, 30], [40, 30], [half, whole]) == pytest.approx(alone)


def test_weights_make_a_sample_worth_fewer_sessions() -> None:
    """Ten that stand for one each and ten that stand for nine: (10 + 90)² / (10 + 810)."""
    sample, zeros = [Stratum(10, 10), Stratum(90, 10)], np.zeros((2, 1))
    _, (size,) = pool(sample, np.array([1.0, 9.0]), zeros, zeros[:, :, None], zeros + 10, finite=True)
    assert size == pytest.approx(100**2 / 820)


def figure_of(asked: Floats, limits: bool = True) -> tuple[float | None, float | None, float | None]:
    """Return figure and interval of strata of 3,000 and 400 sessions, of which these were asked (rows of values)."""
    name = "RecallAt1" if limits else "MeanRank"
    metric = metrics.select_metrics([name])[name]
    observations = Observations(metric, [Stratum(3000, asked.shape[1]), Stratum(400, asked.shape[1])])
    for number, values in enumerate(asked, 1):
        places = np.full(len(values), pack_location(0, stratum=number))
        observations.add(places, np.stack([values, np.ones(len(values))], axis=1))
    found = estimate(observations, asked.shape[1] / 3000)
    return found.value, found.low, found.high


def test_a_share_of_one_may_have_a_miss_that_was_not_asked() -> None:
    """Rule of three: one miss among 50 unseen ones would be 3/50 at most."""
    value, low, high = figure_of(np.ones((2, 50)))
    assert (value, high) == (1, 1)
    assert low is not None
    assert 1 / 50 < 1 - low < 7 / 50


@pytest.mark.parametrize("rank", [1.0, 3.0])
def test_a_mean_rank_that_nothing_moves_is_itself(rank: float) -> None:
    ranks = np.full((2, 300), rank)
    assert figure_of(ranks, limits=False) == pytest.approx((rank, rank, rank), abs=1e-9)
    ranks[0, :20] += 1
    _, low, high = figure_of(ranks, limits=False)
    assert (low or 0) < (high or 0)


SIZES, RATES, LOST = (9000, 1200, 400), (0.4, 0.6, 0.8), (0.0, 0.05, 0.1)
LIMIT = 300
KNOWN = {("", str(number)): size for number, size in enumerate(SIZES)}


def project(random: np.random.Generator, sessions: int, rate: float, lost: float) -> Floats:
    """Hits of base and of new (sessions x 4)."""
    base = random.random(sessions) < rate
    new = np.where(random.random(sessions) < lost, False, base) | (random.random(sessions) < 0.02)
    ones = np.ones(sessions)
    return np.stack([base.astype(float), ones, new.astype(float), ones], axis=1)


def test_the_interval_of_unequal_projects_holds_the_difference_of_all_sessions() -> None:
    random = np.random.default_rng(3)
    worlds = [project(random, *each) for each in zip(SIZES, RATES, LOST, strict=True)]
    whole = np.concatenate(worlds).sum(axis=0)
    truth = whole[2] / whole[3] - whole[0] / whole[1]
    held, pooled = 0, []
    for _ in range(300):
        samples = [world[random.choice(len(world), LIMIT, replace=False)] for world in worlds]
        sums = FilterSums(figures=1)
        for number, sample in enumerate(samples):
            sums.rows.append(sums.add(sample[:, None]))
            sums.add_to_stratum(("", str(number)), sample[:, None])
        plain = sums.total[0]
        pooled.append(plain[2] / plain[3] - plain[0] / plain[1])
        assert sums.weigh(Strata(KNOWN), dict.fromkeys(KNOWN, LIMIT))
        found = Judge(METRICS, LIMIT / max(SIZES), repeats=DETERMINISTIC).filter(sums)
        low, high = found["RecallAt1"].low, found["RecallAt1"].high
        assert low is not None
        assert high is not None
        held += low <= truth <= high
        assert found["RecallAt1"].state == "weighted"
    assert 0.92 <= held / 300 <= 0.985
    assert abs(np.mean(pooled) - truth) > 0.02


@pytest.mark.parametrize(
    ("shares", "apart"), [([0.5, 0.5], False), ([0.48, 0.5], False), ([0.1, 0.5], True), ([], False)]
)
def test_shares_that_chance_explains_need_no_weights(shares: list[float], apart: bool) -> None:
    asked = {("", str(number)): round(100 * share) for number, share in enumerate(shares)}
    assert bool(Strata(dict.fromkeys(asked, 100)).weighted(asked, asked)) is apart
