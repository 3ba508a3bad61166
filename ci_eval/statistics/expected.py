"""How well each session is expected to go, by how those went that were asked.

The log-odds of a session are a sum of weights, one for the value that it has of each feature: its kind, its text, the
word on its left, and so on. The weights are drawn towards 0 (ridge logistic regression; le Cessie and van Houwelingen,
"Ridge estimators in logistic regression", 1992), as strongly as tells best of a part of the answers what the others
were.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Places = NDArray[np.int64]

RIDGES = (0.3, 1.0, 3.0, 10.0)
"""How strongly weights are drawn towards 0, from which one is chosen: a weight w costs ridge x w² / 2."""
FOLDS = 4
"""Parts of the answers, each of which is foretold by the others in turn."""
NEARLY = 1e-3
"""No session is expected to be right, or wrong, with a higher chance than 1 minus this."""
FARTHEST = 2.0
"""No step changes a weight by more: where a feature's value decides, the best step is not known from afar."""
CLOSE = 1e-3
"""No weight changes by more in the last round."""
ROUNDS = 50
"""At most."""


def expected(features: Sequence[Places], asked: Places, values: Floats) -> Floats:
    """How well each session is expected to go (0 to 1). `features`: the number of each session's value of each;
    `asked`: places of the sessions that were asked; `values`: how well they went."""
    # Of those that were asked, numbers without gaps: a project has far more texts than were asked about.
    present, own = zip(*(np.unique(each[asked], return_inverse=True) for each in features), strict=True)
    fold = np.arange(len(asked)) % FOLDS

    def surprise(ridge: float) -> float:
        """By the values of the others, at those of each fold (cross-entropy)."""
        total = 0.0
        for number in range(FOLDS):
            known, other = fold != number, fold == number
            base, weights = fitted([each[known] for each in own], values[known], ridge)
            odds = base + sum(_lengthened(weight, each)[each[other]] for weight, each in zip(weights, own, strict=True))
            total += float((np.logaddexp(0, odds) - values[other] * odds).sum())
        return total

    base, weights = fitted(own, values, min(RIDGES, key=surprise))
    odds = np.full(len(features[0]), base)
    for each, numbers, weight in zip(features, present, weights, strict=True):
        whole = np.zeros(each.max() + 1)
        whole[numbers] = weight
        odds += whole[each]
    return np.asarray(np.clip(_rate(odds), NEARLY, 1 - NEARLY))


def fitted(features: Sequence[Places], values: Floats, ridge: float) -> tuple[float, list[Floats]]:
    """The log-odds that all share, and what each value of each feature adds to them.

    By Newton's method, one feature after the other: its values are in no session together, so that each has a step of
    its own.
    """
    base = float(np.log((values.sum() + 1) / (len(values) - values.sum() + 1)))
    odds, weights = np.full(len(values), base), [np.zeros(each.max() + 1) for each in features]
    for _ in range(ROUNDS):
        farthest = 0.0
        for numbers, weight in zip(features, weights, strict=True):
            rates = _rate(odds)
            slope = np.bincount(numbers, values - rates) - ridge * weight
            curve = np.bincount(numbers, rates * (1 - rates)) + ridge
            step = np.clip(slope / curve, -FARTHEST, FARTHEST)
            weight += step
            odds += step[numbers]
            farthest = max(farthest, float(np.abs(step).max()))
        if farthest < CLOSE:
            break
    return base, weights


def _rate(odds: Floats) -> Floats:
    return np.asarray(1 / (1 + np.exp(-odds)))


def _lengthened(weight: Floats, numbers: Places) -> Floats:
    """With 0 for the numbers that are too high for it."""
    return np.pad(weight, (0, int(numbers.max()) + 1 - len(weight)))
