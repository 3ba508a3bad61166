"""Projects that were asked in unequal shares: the weighted figure and its interval hold that of all sessions."""

from __future__ import annotations

import numpy as np
import pytest
from ci_eval.statistics.stratified import Stratum, covariance, total, unequal

from ci_eval import metrics
from ci_eval.stages.compare.judging import Judge
from ci_eval.stages.compare.sums import FilterSums
from ci_eval.statistics.repeated.repeats import DETERMINISTIC
from ci_eval.statistics.student import Floats

METRICS = [metric for metric in metrics.load() if metric.info.name == "RecallAt1"]
SIZES, RATES, LOST = (9000, 1200, 400), (0.4, 0.6, 0.8), (0.0, 0.05, 0.1)
LIMIT = 300


def project(random: np.random.Generator, sessions: int, rate: float, lost: float) -> Floats:
    """Hits of base and of new (sessions x 4)."""
    base = random.random(sessions) < rate
    new = np.where(random.random(sessions) < lost, False, base) | (random.random(sessions) < 0.02)
    ones = np.ones(sessions)
    return np.stack([base.astype(float), ones, new.astype(float), ones], axis=1)


def strata_of(samples: list[Floats]) -> list[Stratum]:
    return [
        Stratum(sessions, len(sample), sample.sum(axis=0)[None], sample.T @ sample)
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
        found = Judge(METRICS, frozenset({"RecallAt1"}), LIMIT / max(SIZES), repeats=DETERMINISTIC).filter(sums)
        low, high = found["RecallAt1"].low, found["RecallAt1"].high
        assert low is not None
        assert high is not None
        held += low <= truth <= high
        assert found["RecallAt1"].state == "weighted"
    assert 0.92 <= held / 300 <= 0.985
    assert abs(np.mean(pooled) - truth) > 0.02


def test_a_project_of_which_all_was_asked_adds_nothing_to_the_error() -> None:
    rows = np.array([[1.0, 1], [0, 1]])
    all_of_it = Stratum(2, 2, rows.sum(axis=0)[None], rows.T @ rows)
    found = covariance([all_of_it], np.array([[0.5], [-0.25]]), np.array([0.5]), finite=True)
    assert found[0, 0] == 0


@pytest.mark.parametrize(
    ("shares", "apart"), [([0.5, 0.5], False), ([0.48, 0.5], False), ([0.1, 0.5], True), ([], False)]
)
def test_shares_that_chance_explains_need_no_weights(shares: list[float], apart: bool) -> None:
    assert unequal(shares) is apart
