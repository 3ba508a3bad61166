"""The expected result of each session, learned from the sessions that were asked.

The log-odds of a session are a sum of weights, one for the session's value of each feature: its kind, its text, the
word on its left, and so on. The weights are shrunk towards 0 (ridge logistic regression; le Cessie and van Houwelingen,
"Ridge estimators in logistic regression", 1992). Cross-validation over the results chooses the strength.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Places = NDArray[np.int64]

RIDGES = (0.3, 1.0, 3.0, 10.0)
"""The candidates for the strength of the shrinkage: a weight w costs ridge x w² / 2."""
FOLDS = 4
"""The number of parts of the results; each part is predicted from the others in turn."""
NEARLY = 1e-3
"""The smallest chance that a session is expected to have of being right, and of being wrong."""
FARTHEST = 2.0
"""The largest change of a weight in one step: if a feature's value decides alone, the best step is not known from
afar."""
CLOSE = 1e-3
"""The largest change of a weight in the last round."""
ROUNDS = 50
"""The number of rounds of Newton's method, at most."""


def predict_values(features: Sequence[Places], asked: Places, values: Floats) -> Floats:
    """Return how well each session is expected to go (0 to 1).

    `features`: for each feature, the number of each session's value. `asked`: indices of the sessions that were asked.
    `values`: how well these went.
    """
    # Of those that were asked, numbers without gaps: a project has far more texts than were asked about.
    present, own = zip(*(np.unique(values_of[asked], return_inverse=True) for values_of in features), strict=True)
    # Folds go by position, not by chance, so that equal results choose equal sessions.
    fold = np.arange(len(asked)) % FOLDS

    def surprise(ridge: float) -> float:
        """Return the cross-entropy of each fold under the weights fitted to the others, summed."""
        total = 0.0
        for number in range(FOLDS):
            known, held_out = fold != number, fold == number
            base, weights = fit_weights([numbers_of[known] for numbers_of in own], values[known], ridge)
            odds = base + sum(
                _pad(weight, folded)[folded[held_out]] for weight, folded in zip(weights, own, strict=True)
            )
            # logaddexp gives log(1 + e^x) without an overflow.
            total += float((np.logaddexp(0, odds) - values[held_out] * odds).sum())
        return total

    base, weights = fit_weights(own, values, min(RIDGES, key=surprise))
    odds = np.full(len(features[0]), base)
    for indices, numbers, weight in zip(features, present, weights, strict=True):
        whole = np.zeros(indices.max() + 1)
        whole[numbers] = weight
        odds += whole[indices]
    return np.asarray(np.clip(_rate(odds), NEARLY, 1 - NEARLY))


def fit_weights(features: Sequence[Places], values: Floats, ridge: float) -> tuple[float, list[Floats]]:
    """Return the log-odds that all sessions share, and what each value of each feature adds to them."""
    # One session of each result is added, so that the odds are finite if all sessions went alike.
    base = float(np.log((values.sum() + 1) / (len(values) - values.sum() + 1)))
    odds, weights = np.full(len(values), base), [np.zeros(feature.max() + 1) for feature in features]
    for _ in range(ROUNDS):
        farthest = 0.0
        for numbers, weight in zip(features, weights, strict=True):
            rates = _rate(odds)
            slope = np.bincount(numbers, values - rates) - ridge * weight
            curve = np.bincount(numbers, rates * (1 - rates)) + ridge
            # Newton's method, one feature after the other: a session has only one value of a feature, so that each
            # value has a step of its own.
            step = np.clip(slope / curve, -FARTHEST, FARTHEST)
            weight += step
            odds += step[numbers]
            farthest = max(farthest, float(np.abs(step).max()))
        if farthest < CLOSE:
            break
    return base, weights


def _rate(odds: Floats) -> Floats:
    return np.asarray(1 / (1 + np.exp(-odds)))


def _pad(weight: Floats, numbers: Places) -> Floats:
    # Values that occur only outside the training folds have weight 0.
    return np.pad(weight, (0, int(numbers.max()) + 1 - len(weight)))
