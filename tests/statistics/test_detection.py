"""How many sessions find a difference."""

from __future__ import annotations

from math import sqrt

import numpy as np
import pytest

from ci_eval.core.model import Determinism
from ci_eval.core.statistics.detection import FIRST, Pilot, mean_square, next_size, next_size_of_figure, reach
from ci_eval.core.statistics.student import Floats

ERRORS, POWER = 1.96, 0.8


def pilot(**given: float) -> Pilot:
    usual = {
        "sessions": 10_000,
        "asked": 200,
        "observed": 200,
        "variance": 0.1,
        "noise": 0.0,
        "df": np.inf,
    }
    return Pilot(**usual | given)  # type: ignore[arg-type]


def test_the_detectable_difference_is_that_of_the_textbook_with_the_finite_population() -> None:
    expected = (ERRORS + 0.8416) * sqrt(0.1 / 1000 * (1 - 0.1))
    assert pilot().detectable(np.array([1000.0]), POWER)[0] == pytest.approx(expected, rel=1e-4)


def test_enough_is_the_least_that_finds_the_difference() -> None:
    simple = (ERRORS + 0.8416) ** 2 * 0.1 / 0.02**2
    assert pilot().enough(0.02, POWER) == pytest.approx(simple / (1 + simple / 10_000), rel=0.02)


def test_more_power_takes_more_sessions() -> None:
    assert pilot().enough(0.02, 0.9) > pilot().enough(0.02, 0.8)


def test_what_was_asked_may_be_enough_already() -> None:
    assert pilot(asked=5000, observed=5000).enough(0.05, POWER) == 5000


def test_where_half_of_the_sessions_observe_nothing_twice_as_many_are_asked() -> None:
    population = {"sessions": 10**7}
    half = pilot(observed=100, **population).enough(0.02, POWER)
    assert half == pytest.approx(2 * pilot(**population).enough(0.02, POWER), rel=0.05)


def test_all_are_asked_where_noise_hides_the_difference() -> None:
    noisy = pilot(noise=0.01, df=2)
    assert noisy.enough(0.001, POWER) == 10_000
    assert noisy.detectable(np.array([10_000.0]), POWER)[0] > 0.001


def test_noise_takes_more_sessions() -> None:
    assert pilot(noise=1e-5, df=2).enough(0.02, POWER) > pilot().enough(0.02, POWER)


def test_that_no_session_differed_does_not_mean_that_none_does() -> None:
    assert mean_square(0.0, 198) == pytest.approx(0.01)


def test_the_first_phase_is_a_pilot_or_all_there_is() -> None:
    assert next_size(None, 0, 10_000, 0.02, POWER) == FIRST
    assert next_size(None, 0, 50, 0.02, POWER) == 50


def test_a_phase_is_worth_its_engines_start_and_none_follows_when_all_are_asked() -> None:
    barely = pilot(asked=1500, observed=1500)
    assert next_size(barely, 1500, 10_000, 0.0205, POWER) == 1650
    assert next_size(pilot(asked=10_000), 10_000, 10_000, 0.001, POWER) == 10_000
    assert next_size(None, 10_000, 10_000, 0.001, POWER) == 10_000


def test_where_nothing_was_observed_twice_as_many_are_asked() -> None:
    assert next_size(None, 200, 10_000, 0.02, POWER) == 400


def ask(right: Floats, precision: float, seed: int) -> tuple[float, float, int]:
    """Return the figure, how far its interval reaches, and the number of sessions asked, of a run with a precision."""
    order = np.random.default_rng(seed).permutation(right)
    rows, asked, reached = np.stack([order, np.ones(len(order))], axis=1), 0, np.inf
    while (size := next_size_of_figure(reached, asked, len(order), precision)) > asked:
        asked, reached = size, reach(rows[:size], size, len(order), (0.0, 1.0), Determinism())
    return float(order[:asked].mean()), reached, asked


@pytest.mark.parametrize(("share", "precision"), [(0.7, 0.02), (0.97, 0.015), (0.988, 0.01)])
def test_the_interval_of_a_run_with_a_precision_holds_the_figure_of_all(share: float, precision: float) -> None:
    right = (np.arange(12_000) < share * 12_000).astype(float)
    found = np.array([ask(right, precision, seed) for seed in range(400)])
    assert (found[:, 1] <= precision).all()
    assert abs(found[:, 0].mean() - share) < 0.001
    assert (np.abs(found[:, 0] - share) <= found[:, 1]).mean() > 0.92


def test_about_as_many_are_asked_as_the_textbook_says() -> None:
    right = (np.arange(12_000) < 6000).astype(float)
    simple = ERRORS**2 * 0.25 / 0.02**2
    assert ask(right, 0.02, 1)[2] == pytest.approx(simple / (1 + simple / 12_000), rel=0.1)


def test_a_precision_that_takes_all_sessions_asks_all() -> None:
    assert ask(np.ones(300), 1e-5, 1) == (1.0, 0.0, 300)
    assert reach(np.zeros((5, 2)), 5, 10, (0.0, 1.0), Determinism()) == np.inf
    assert next_size_of_figure(np.inf, 200, 1000, 0.01) == 400


def test_engines_asked_once_need_the_larger_variance_and_eight_changed_sessions() -> None:
    once = {"noise": 0.0006, "df": 40.0, "changes": 20.0}
    # (2.02 + 0.84)² · 0.0006 · 1.09 · 600 / 0.05², without the correction of a finite population.
    assert pilot(asked=600, observed=600, **once).enough(0.05, POWER, 1) == pytest.approx(1290, rel=0.03)
    assert pilot(asked=600, observed=600, noise=0.0, df=40.0, changes=2.0).enough(0.9, POWER, 1) == pytest.approx(
        600 * 10.3 / 2, rel=0.03
    )
