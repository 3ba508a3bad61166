"""How well sessions are expected to go."""

from __future__ import annotations

import numpy as np
import pytest

from ci_eval.core.statistics.expected import NEARLY, Floats, Places, fit_weights, predict_values

SESSIONS = 2000
RANDOM = np.random.default_rng(1)
KINDS, TEXTS = RANDOM.integers(0, 3, SESSIONS), RANDOM.integers(0, 300, SESSIONS)
CHANCES = 1 / (1 + np.exp(-(np.array([2.0, -2.0, 0.0])[KINDS] + RANDOM.normal(0, 1.5, 300)[TEXTS])))
RIGHT = (RANDOM.random(SESSIONS) < CHANCES).astype(float)
ASKED = np.arange(0, SESSIONS, 2)


def by_one_matrix(features: list[Places], values: Floats, base: float, ridge: float) -> Floats:
    """The weights by Newton's method over all of them at once."""
    sizes = [each.max() + 1 for each in features]
    design = np.concatenate([np.eye(size)[each] for each, size in zip(features, sizes, strict=True)], axis=1)
    weights = np.zeros(sum(sizes))
    for _ in range(50):
        rates = 1 / (1 + np.exp(-(base + design @ weights)))
        slope = design.T @ (values - rates) - ridge * weights
        curve = (design.T * (rates * (1 - rates))) @ design + ridge * np.eye(len(weights))
        step = np.linalg.solve(curve, slope)
        weights += step
        if np.abs(step).max() < 1e-12:
            return weights
    raise AssertionError("it does not converge")


@pytest.mark.parametrize("ridge", [0.3, 3.0])
def test_weights_are_those_of_a_ridge_regression_over_one_matrix(ridge: float) -> None:
    features = [KINDS, TEXTS]
    base, weights = fit_weights(features, RIGHT, ridge)
    assert np.concatenate(weights) == pytest.approx(by_one_matrix(features, RIGHT, base, ridge), abs=0.02)


def test_what_was_not_asked_is_foretold_better_than_by_the_mean() -> None:
    predictions = predict_values([KINDS, TEXTS], ASKED, RIGHT[ASKED])
    other = np.setdiff1d(np.arange(SESSIONS), ASKED)
    usual = np.full(len(other), RIGHT[ASKED].mean())
    assert surprise(predictions[other], RIGHT[other]) < 0.8 * surprise(usual, RIGHT[other])


def test_a_feature_that_tells_nothing_hardly_counts() -> None:
    noise = np.random.default_rng(2).integers(0, 300, SESSIONS)
    predictions = predict_values([noise], ASKED, RIGHT[ASKED])
    assert predictions.std() < 0.5 * predict_values([TEXTS], ASKED, RIGHT[ASKED]).std()


def test_nothing_is_certain() -> None:
    predictions = predict_values([np.zeros(SESSIONS, dtype=np.int64)], ASKED, np.ones(len(ASKED)))
    assert predictions.max() <= 1 - NEARLY


def test_a_value_that_was_never_asked_about_counts_for_nothing() -> None:
    predictions = predict_values([np.arange(4)], np.array([0, 1]), np.array([1.0, 0.0]))
    assert predictions[2] == predictions[3] == pytest.approx(0.5)
    assert predictions[0] > 0.5 > predictions[1]


def surprise(chances: Floats, values: Floats) -> float:
    """Cross-entropy."""
    return float(-(values * np.log(chances) + (1 - values) * np.log(1 - chances)).mean())
