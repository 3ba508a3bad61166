"""The inference for this project, whose sessions under this strategy are a finite population.

The asked sessions are sampled without replacement (`chance.py`), so only the other sessions are uncertain, and nothing
is if all were asked. So that an interval has a width even if changes are rare, two sessions are added to the sample:
one with the largest possible gain, one with the largest possible loss (Bonett & Price 2012, for paired proportions).
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import comb

import numpy as np
from numpy.typing import NDArray

from ci_eval.core.statistics.paired import LEVEL, Limits, clip_interval
from ci_eval.core.statistics.population import Stratum
from ci_eval.core.statistics.repeated import NoiseVariance
from ci_eval.core.statistics.student import NORMAL, Floats, critical_values

FEWEST_OBSERVED = 3
"""The fewest sessions for an interval, unless all were asked: that of one or two would be as wide as the bounds."""


def estimate_project(
    total: Floats, products: Floats, observed: Floats, asked: float, gains: Floats, changed: NDArray[np.bool_]
) -> tuple[Floats, Floats]:
    """Return the centers of the intervals of differences (new - base), and the variances of sampling.

    `total` (figures x 4): base's numerator and denominator, then new's. `products` (4 figures x 4 figures): the summed
    products of each two of these numbers. `asked`: a share; 0 for an infinite population. `gains`: see `largest_gains`.
    `changed`: whether any session changed; without one, a difference is a rounding error.
    """
    with np.errstate(invalid="ignore", divide="ignore"):
        difference = np.where(changed, total[:, 2] / total[:, 3] - total[:, 0] / total[:, 1], 0.0)
        weights = influence(total)
    squares = np.where(changed, np.clip(np.diag(weights.T @ products @ weights), 0, None), 0.0) * observed**2
    left = 1 - asked
    # The larger the asked share, the less the added sessions count; if all were asked, they do not count.
    size = observed + 2 * left
    # The two added sessions gain and lose as much, so they pull the center towards 0 (Bonett & Price 2012).
    center = difference * (observed / size)
    spread = squares + observed * difference**2 + 2 * gains**2 - size * center**2
    return center, np.clip(left * spread, 0, None) / size**2


def largest_gains(spans: Sequence[float | None]) -> Floats:
    """Return the largest gain of one session, by figure; 1 if it has no bound."""
    return np.array([1.0 if span is None else span for span in spans])


FEWEST_RANKS = 200
"""The fewest hits for the interval of a mean rank: with fewer, rare very long lists are too often missing."""


def sum_powers(values: Floats, weights: Floats) -> tuple[Floats, Floats]:
    """Return sums of value², value · weight, weight²; and of value⁴, value³ · weight … weight⁴."""
    upper, mixed, lower = values * values, values * weights, weights * weights
    fourths = [upper @ upper, upper @ mixed, mixed @ mixed, mixed @ lower, lower @ lower]
    return np.array([upper.sum(), mixed.sum(), lower.sum()]), np.array(fourths)


def effective_sessions(squares: Floats, fourths: Floats, total: Floats) -> float:
    """Return (Σr²)²/Σr⁴ of the residuals r = value - ratio · weight: the effective number of sessions in the error of a
    ratio, infinite without residuals. `squares`, `fourths`: see `sum_powers`. `total`: sums of values and weights."""
    # Large terms nearly cancel each other, so floats would lose digits; fractions lose nothing.
    ratio = Fraction(total[0]) / Fraction(total[1])
    # The sums of (value - ratio · weight)^2 and ^4, by the binomial theorem.
    second, fourth = (
        sum(comb(power, k) * (-ratio) ** k * Fraction(term) for k, term in enumerate(sums))
        for power, sums in ((2, squares), (4, fourths))
    )
    # Sums of values that are not whole numbers were rounded.
    return float(second**2 / fourth) if second > 1e-9 * abs(squares[0]) and fourth > 0 else np.inf


def figure(
    total: Floats,
    products: Floats,
    observed: float,
    asked: float,
    limits: Limits,
    noise: NoiseVariance | None = None,
    effective: float = 0.0,
    unseen: float = 0.0,
) -> tuple[float | None, float | None]:
    """Return the 95 % interval (low, high) of a single figure, within its limits and around the figure.

    Both ends are the figure if all sessions were asked and no noise was measured; (None, None) below FEWEST_OBSERVED
    sessions. A metric without a bound, such as the rank, uses t with `effective` degrees of freedom, since single ranks
    may be very large; it has no interval if that is 0, or below FEWEST_RANKS sessions. So that shares of 0 or 1 have a
    width, two sessions with the highest and two with the lowest value are added (Agresti & Coull 1998).
    `unseen`: the share of sessions that may be answered in another way although none was.
    """
    value, left = float(total[0] / total[1]), 1 - asked
    lowest, highest = limits
    # A figure outside shows that the metric has no such bound.
    bounded = lowest is not None and highest is not None and lowest <= value <= highest
    middle, most = value, 1.0
    if lowest is not None and highest is not None and bounded:
        middle, most = (lowest + highest) / 2, (highest - lowest) / 2
    more, is_steady = unseen * (2 * most if bounded else 1.0), noise is None or not noise.variance[0]
    if left <= 0 and is_steady:
        return clip_interval(limits, value - more, value + more, value)
    # With 37 to 100 ranks, intervals held the truth in only 81 to 95 % of draws (docs/statistics.md).
    if observed < FEWEST_OBSERVED or (not bounded and (observed < FEWEST_RANKS or not effective)):
        return None, None
    weights = np.array([1, -value]) * observed / total[1]
    if not bounded and np.isinf(effective) and is_steady:
        # No session differs from another, as with the control that knows every answer.
        return clip_interval(limits, value - more, value + more, value)
    squares = max(float(weights @ products @ weights), 0.0)
    size = observed + 4 * left
    center = (observed * value + 4 * left * middle) / size
    spread = squares + observed * (value - center) ** 2 + 4 * (most**2 + (middle - center) ** 2)
    sampling = left * spread / size**2
    if noise is None or is_steady:
        errors = NORMAL.inv_cdf((1 + LEVEL) / 2) if bounded else float(critical_values(1 - LEVEL, max(effective, 1)))
        reach = errors * float(np.sqrt(sampling))
    else:
        error, df = noise.add_sampling(np.array([sampling]))
        reach = float(critical_values(1 - LEVEL, df)[0] * error[0])
    return clip_interval(limits, center - reach - more, center + reach + more, value)


def influence(total: Floats) -> Floats:
    """Return the derivative of each difference (new - base) with respect to `total` (figures x 4), as 4 figures x
    figures.

    The product of a session's numbers with a column is what the session adds to that difference, to first order.
    """
    weights = np.zeros((total.size, len(total)))
    for figure, (base, below_base, new, below_new) in enumerate(total):
        own = (-1 / below_base, base / below_base**2, 1 / below_new, -new / below_new**2)
        weights[4 * figure : 4 * figure + 4, figure] = own
    return weights


def pool(
    sample: Sequence[Stratum], weights: Floats, total: Floats, products: Floats, observed: Floats, *, finite: bool
) -> tuple[Floats, Floats]:
    """Return sums of products, and effective sessions (Σw)²/Σw² (Kish 1965), with which formulas for a simple sample,
    of the smallest share asked, give the variance of a stratified one.

    `weights`: of an asked session, by stratum. `total` (strata x numbers), `products` (strata x numbers x numbers),
    `observed` (strata x figures): over the asked sessions. The variance is that within strata, with finite population
    correction (Cochran, Sampling Techniques, 5.9) if `finite`.
    """
    asked = np.array([stratum.asked for stratum in sample], dtype=np.float64)
    left = np.array([1 - stratum.share if finite else 1.0 for stratum in sample])
    factors = weights**2 * left / (left.max() or 1.0) * (asked + 1) / asked
    # The mean of a few sessions is hardly known, so it counts as that of one session more.
    within = products - total[:, :, None] * total[:, None, :] / (asked + 1)[:, None, None]
    with np.errstate(invalid="ignore"):
        effective = (weights @ observed) ** 2 / (weights**2 @ observed)
    return np.tensordot(factors, within, 1), np.asarray(np.nan_to_num(effective))
