"""Changes of level: found where they are planted, and not where there is only noise."""

from __future__ import annotations

import random

import numpy as np
import pytest

from ci_eval.core.statistics.nonparametric import find_level_changes, measure_agreement
from tests.needs import need_module


def places(values: list[float], floor: float = 0.001) -> list[int]:
    return [cut.place for cut in find_level_changes(values, floor=floor, seed=1)]


@pytest.mark.parametrize(("before", "after"), [(8, 4), (20, 2), (30, 30), (4, 8)])
def test_a_step_is_found_where_it_is(before: int, after: int) -> None:
    (cut,) = find_level_changes([0.5] * before + [0.4] * after, floor=0.001, seed=1)
    assert cut.place == before
    assert [cut.before, cut.after] == pytest.approx([0.5, 0.4])
    assert cut.p < 0.01


def test_each_level_of_several_is_found_with_noise_around_it() -> None:
    noise = np.random.default_rng(7).normal(0, 0.01, 90)
    found = places(list(np.repeat([0.5, 0.6, 0.4], 30) + noise))
    assert found == pytest.approx([30, 60], abs=1)


@pytest.mark.parametrize("values", [[], [0.5], [0.5, 0.4], [0.5] * 40, [0.5] * 20 + [0.1]], ids=len)
def test_what_is_constant_or_a_single_figure_has_none(values: list[float]) -> None:
    assert places(values) == []


def test_one_bad_night_does_not_hide_a_change() -> None:
    assert places([0.9] * 14 + [0.8] * 10 + [0.1]) == [14]
    assert places([0.9] * 7 + [0.1] + [0.9] * 7 + [0.8] * 10) == [15]


def test_a_change_below_the_floor_is_none() -> None:
    assert places([0.5] * 20 + [0.5005] * 20) == []
    assert places([0.5] * 20 + [0.5005] * 20, floor=0.0001) == [20]


def test_noise_alone_seldom_has_a_change_of_level() -> None:
    random = np.random.default_rng(11)
    alarms = sum(bool(places(list(random.normal(0.5, 0.01, 40)))) for _ in range(200))
    assert alarms <= 8  # 1 % are expected; 9 of 200 have a probability below 1 in 4,000


PROBABILITIES = {
    ("a", "a"): 0.45, ("a", "b"): 0.12, ("b", "a"): 0.08, ("b", "b"): 0.2, ("c", "c"): 0.1, ("a", "c"): 0.05,
}  # fmt: skip
TRUTH = (0.75 - (0.62 * 0.53 + 0.28 * 0.32 + 0.10 * 0.15)) / (1 - (0.62 * 0.53 + 0.28 * 0.32 + 0.10 * 0.15))


def pairs_of(**counts: int) -> list[tuple[str, str]]:
    return [(names[0], names[1]) for names, count in counts.items() for _ in range(count)]


def test_kappa_is_that_of_another_implementation() -> None:
    metrics = need_module("sklearn.metrics")
    chance = random.Random(5)
    for size in (5, 20, 200):
        pairs = chance.choices([*PROBABILITIES], [*PROBABILITIES.values()], k=size)
        expected = metrics.cohen_kappa_score([first for first, _ in pairs], [second for _, second in pairs])
        assert measure_agreement(pairs).kappa == pytest.approx(expected)


def test_the_interval_holds_the_truth_in_nineteen_of_twenty_samples() -> None:
    chance, held = random.Random(1), 0
    for _ in range(1000):
        agreement = measure_agreement(chance.choices([*PROBABILITIES], [*PROBABILITIES.values()], k=150))
        assert agreement.low is not None
        assert agreement.high is not None
        held += agreement.low <= TRUTH <= agreement.high
    assert 0.925 <= held / 1000 <= 0.97


def test_agreement_by_chance_alone_is_zero_and_worse_is_negative() -> None:
    assert measure_agreement(pairs_of(yy=10, yn=10, ny=10, nn=10)).kappa == 0
    assert measure_agreement(pairs_of(yn=10, ny=10)).kappa == -1


def test_full_agreement_has_no_interval() -> None:
    agreement = measure_agreement(pairs_of(yy=30, nn=10))
    assert (agreement.kappa, agreement.equal, agreement.low, agreement.high) == (1, 40, None, None)


@pytest.mark.parametrize("pairs", [[], pairs_of(yy=40)])
def test_without_different_verdicts_there_is_no_kappa(pairs: list[tuple[str, str]]) -> None:
    agreement = measure_agreement(pairs)
    assert (agreement.kappa, agreement.both) == (None, len(pairs))


def test_few_items_have_no_interval() -> None:
    assert measure_agreement(pairs_of(yy=9, nn=9, yn=1)).low is None
    assert measure_agreement(pairs_of(yy=9, nn=9, yn=2)).low is not None
