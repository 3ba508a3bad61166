"""Changes of level: found where they are planted, and not where there is only noise."""

from __future__ import annotations

import numpy as np
import pytest

from ci_eval.core.statistics.changepoints import cuts


def places(values: list[float], floor: float = 0.001) -> list[int]:
    return [cut.place for cut in cuts(values, floor=floor, seed=1)]


@pytest.mark.parametrize(("before", "after"), [(8, 4), (20, 2), (30, 30), (4, 8)])
def test_a_step_is_found_where_it_is(before: int, after: int) -> None:
    (cut,) = cuts([0.5] * before + [0.4] * after, floor=0.001, seed=1)
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
