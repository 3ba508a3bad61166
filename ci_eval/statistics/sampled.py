"""Here: the sessions of this project under this strategy are a finite population, of which some were asked.

Which ones were asked is drawn without replacement (`chance.py`), so all that is uncertain is what the others
would have said: nothing, where all were asked. One session is added that gained as much as can be and one that lost
as much, as Bonett & Price (2012) do for paired proportions, so that rare changes have no interval of width zero.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ci_eval.statistics.paired import LEVEL, Spread
from ci_eval.statistics.student import NORMAL, Floats, errors_at

LARGEST = {"share": 1.0, "score": 1.0}
"""By unit, the most one session can gain; one step for the others."""


@dataclass(frozen=True)
class NoiseVariance:
    """The variance of each figure that comes from the engine's own indeterminism, measured in so many rounds."""

    variance: Floats
    df: Floats
    """Degrees of freedom of the variance."""

    @classmethod
    def of(cls, sides: Sequence[Floats], rounds: Sequence[int]) -> NoiseVariance:
        """Of one figure's or one difference's sides, each with so many rounds (Welch 1947, Satterthwaite 1946)."""
        variance = np.sum(sides, axis=0)
        apart = sum(side**2 / max(number - 1, 1) for side, number in zip(sides, rounds, strict=True))
        with np.errstate(invalid="ignore", divide="ignore"):
            return cls(variance, np.where(variance > 0, variance**2 / apart, np.inf))

    def with_sampling(self, variance: Floats) -> tuple[Floats, Floats]:
        """Standard errors and degrees of freedom where sampling adds such a variance, which is known well."""
        total = variance + self.variance
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.sqrt(total), np.where(self.variance > 0, self.df * (total / self.variance) ** 2, np.inf)


def here(
    total: Floats,
    products: Floats,
    observed: Floats,
    asked: float,
    units: Sequence[str],
    noise: NoiseVariance | None = None,
) -> Spread:
    """The differences of the whole population.

    `total` (figures x 4): sums of base's numerator and denominator, then new's. `products` (4 figures x 4 figures):
    sums over sessions of the products of these. `observed`: sessions behind each figure. `asked`: share of the
    population.
    `noise`: of the engine's own indeterminism, where repeats have measured it.
    """
    with np.errstate(invalid="ignore", divide="ignore"):
        base, new = total[:, 0] / total[:, 1], total[:, 2] / total[:, 3]
        weights = influence(total)
    difference, left = new - base, 1 - asked
    values, vectors = np.linalg.eigh(products)
    scores = (vectors * np.sqrt(np.clip(values, 0, None))).T @ weights
    # Of deviations from the mean, in units of one session; then with the two sessions that are added.
    squares = (scores**2).sum(axis=0) * observed**2
    most = np.array([LARGEST.get(unit, 1.0) for unit in units])
    size = observed + 2 * left
    center = difference * observed / size
    spread = squares + observed * difference**2 + 2 * most**2 - size * center**2
    sampling = np.clip(left * spread, 0, None) / size**2
    error, df = (np.sqrt(sampling), np.full(len(base), np.inf)) if noise is None else noise.with_sampling(sampling)
    return Spread(base, new, center, error, df, scores)


FEWEST_RANKS = 200
"""Sessions that found the text: of fewer, one that found it at the end of a long list is too often not among them."""


def effective_sessions(values: Floats, weights: Floats) -> float:
    """So many sessions make the error of a ratio of sums: (Σr²)²/Σr⁴, r being what each adds to it."""
    apart = values - weights * values.sum() / weights.sum()
    fourths = float((apart**4).sum())
    return float((apart**2).sum()) ** 2 / fourths if fourths else np.inf


def figure(
    total: Floats,
    products: Floats,
    observed: float,
    asked: float,
    unit: str,
    noise: NoiseVariance | None = None,
    effective: float = 0.0,
) -> tuple[float | None, float | None]:
    """The 95 % interval of a single figure of the whole population; both ends are the figure where all were asked, and
    nothing is known of noise (of one figure). None for ranks of few sessions, or where `effective` is not known, which
    are t's degrees of freedom for them: some are very large.

    `total`: sums of numerator and denominator; `products` (2 x 2): sums over sessions of their products. For the same
    reason as above two sessions of the most and two of the least are added, as Agresti & Coull (1998) do for shares.
    """
    value, left = float(total[0] / total[1]), 1 - asked
    if left <= 0 and (noise is None or not noise.variance[0]):
        return value, value
    if unit not in LARGEST and (observed < FEWEST_RANKS or not effective):
        return None, None
    weights = np.array([1, -value]) * observed / total[1]
    squares = max(float(weights @ products @ weights), 0.0)
    bounded = unit in LARGEST
    middle, most = (0.5, LARGEST[unit] / 2) if bounded else (value, 1.0)
    size = observed + 4 * left
    center = (observed * value + 4 * left * middle) / size
    spread = squares + observed * (value - center) ** 2 + 4 * (most**2 + (middle - center) ** 2)
    sampling = left * spread / size**2
    if noise is None or not noise.variance[0]:
        errors = NORMAL.inv_cdf((1 + LEVEL) / 2) if bounded else float(errors_at(1 - LEVEL, max(effective, 1)))
        reach = errors * float(np.sqrt(sampling))
    else:
        error, df = noise.with_sampling(np.array([sampling]))
        reach = float(errors_at(1 - LEVEL, df)[0] * error[0])
    low, high = center - reach, center + reach
    return (max(low, 0.0), min(high, 1.0)) if bounded else (low, high)


def influence(total: Floats) -> Floats:
    """How one session moves each difference: (4 figures x figures), to first order."""
    weights = np.zeros((total.size, len(total)))
    for figure, (base, below_base, new, below_new) in enumerate(total):
        own = (-1 / below_base, base / below_base**2, 1 / below_new, -new / below_new**2)
        weights[4 * figure : 4 * figure + 4, figure] = own
    return weights
