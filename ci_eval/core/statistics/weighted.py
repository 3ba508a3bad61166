"""The figures over strata that were asked in unequal shares: merged projects, and the classes of a limited sample.
Their sessions stand for different numbers of others."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ci_eval.core.statistics.paired import LEVEL
from ci_eval.core.statistics.population import Stratum
from ci_eval.core.statistics.repeated.wavering import NoiseVariance
from ci_eval.core.statistics.sampled import Limits, within
from ci_eval.core.statistics.student import NORMAL, critical_values

Floats = NDArray[np.float64]

ADDED = 0.3
"""The number of sessions added to each stratum that vary as those of a stratum usually do: a stratum in which no
session differed may hold some that do."""
FEW = 5
"""The fewest sessions unlike the majority whose number can be trusted; a smaller one says little of how many there
are."""
ERRORS = NORMAL.inv_cdf(0.975)
"""The number of standard errors that a 95 % interval reaches to each side."""


def moments(above: Floats, below: Floats) -> Floats:
    """Return sums over the sessions in which a ratio was observed: of numerators (`above`) and of denominators
    (`below`), of the squares of the first, of the products, of the squares of the second."""
    return np.array([above.sum(), below.sum(), above @ above, above @ below, below @ below])


def moments_of(total: Floats, products: Floats) -> Floats:
    """Return the moments of a ratio from the sums of its numerators and denominators, and those of their products."""
    return np.array([*total, products[0, 0], products[0, 1], products[1, 1]])


def figure(strata: Floats, sampling: Sequence[Stratum], *, finite: bool = True) -> tuple[float | None, float]:
    """Return a ratio and the variance that sampling gives it. The ratio is None if nothing was observed.

    The ratio is over all sessions of the project, or over those in which something is observed. `strata` (strata x 5):
    the moments of each stratum, in the order of the sample's. The ratio is linearised; the variance is that within the
    strata, with the finite-population correction unless answers may vary, too (not `finite`).
    """
    weights = np.array([stratum.weight for stratum in sampling])
    above, below = float(weights @ strata[:, 0]), float(weights @ strata[:, 1])
    if not below:
        return None, np.inf
    value = above / below
    residuals = strata[:, 0] - value * strata[:, 1]
    squares = np.clip(strata[:, 2:] @ [1, -2 * value, value**2], 0, None)
    left = np.array([1 - stratum.share if finite else 1.0 for stratum in sampling])
    variance = _variance(residuals, squares, sampling, left)
    if min(strata[:, 0].sum(), strata[:, 1].sum() - strata[:, 0].sum()) < FEW:
        # One more session, of the stratum whose sessions stand for most, may be otherwise than nearly all are.
        variance = max(variance, float((left * weights**2).max()))
    return value, variance / below**2


def _variance(residuals: Floats, squares: Floats, sampling: Sequence[Stratum], left: Floats) -> float:
    """Return the variance of the total over all sessions, from the sums of the residuals and of their squares by
    stratum."""
    sessions = np.array([stratum.sessions for stratum in sampling], dtype=np.float64)
    asked = np.array([stratum.asked for stratum in sampling], dtype=np.float64)
    # Rounding may leave a negative variance of sessions that are all alike.
    within = np.clip(squares / asked - (residuals / asked) ** 2, 0, None)
    usual = float(sessions @ within / sessions.sum())
    size = asked + ADDED
    varied = np.clip((squares + ADDED * usual) / size - (residuals / size) ** 2, 0, None) * size / (size - 1)
    return float((sessions**2 * left * varied / asked).sum())


def interval(
    strata: Floats,
    sampling: Sequence[Stratum],
    limits: Limits,
    noise: NoiseVariance | None = None,
    unseen: float = 0.0,
    *,
    finite: bool = True,
) -> tuple[float, float] | None:
    """Return the 95 % interval of the figure, or None if nothing was observed. `noise`, `unseen`: see
    `sampled.figure`; `finite`: see `figure`."""
    value, variance = figure(strata, sampling, finite=finite)
    if value is None:
        return None
    error, df = (noise or NoiseVariance(np.zeros(1), np.full(1, np.inf))).add_sampling(np.array([variance]))
    reach = float(critical_values(1 - LEVEL, df)[0] * error[0])
    lowest, highest = limits
    more = unseen * (1.0 if lowest is None or highest is None else highest - lowest)
    if limits == (0, 1) and 0 <= value <= 1:
        low, high = share_interval(value, reach)
        return within(limits, low - more, high + more, value)
    # If no session differs from another, as of the control that always knows, there is no error to measure. The session
    # that `figure` adds is for shares: it would let a mean rank be below 1.
    squares = strata[:, 2:] @ [1, -2 * value, value**2]
    reach = 0.0 if squares.sum() <= 1e-12 * strata[:, 2].sum() else reach
    return within(limits, value - reach - more, value + reach + more, value)


def share_interval(value: float, reach: float) -> tuple[float, float]:
    """Return the interval of a share: the usual one, which reaches that far to each side, joined with the score
    interval (Wilson 1927).

    If few sessions were seen to differ from the majority, too few of them may happen to be in the sample: there the
    score interval reaches further towards 1/2, and the usual one towards 0 or 1. The score interval's sample size is
    that of a simple random sample with the same standard error. If all sessions are alike, it is that of a sample in
    which a session stands for as much as the one that may differ.
    """
    if not reach:
        return value, value
    size = value * (1 - value) * (ERRORS / reach) ** 2 if 0 < value < 1 else ERRORS / reach
    added = ERRORS**2 / size
    middle = (value + added / 2) / (1 + added)
    half = ERRORS * np.sqrt((value * (1 - value) + added / 4) / size) / (1 + added)
    return max(min(float(middle - half), value - reach), 0.0), min(max(float(middle + half), value + reach), 1.0)


@dataclass(frozen=True)
class StratumSums:
    """The sums over the sessions of one stratum, of several that were asked in unequal shares.

    Each session stands for N/n of its stratum; without weights, a stratum of which more was asked would count for more.
    The variance is that within the strata, with the correction of each one's finite population (Cochran, Sampling
    Techniques, 5.9).
    """

    sessions: float
    """The number of all its sessions."""
    asked: float
    total: Floats
    """The sums over sessions (figures x numbers)."""
    products: Floats
    """The sums over sessions of the product of each two numbers (all numbers x all numbers)."""
    scale: float = 1.0
    """The factor by which all weights are multiplied, so that sums keep their size."""

    @property
    def weight(self) -> float:
        """The weight of an asked session: the number of sessions that it stands for, scaled."""
        return self.scale * self.sessions / self.asked

    @property
    def left(self) -> float:
        """The share of the sessions that was not asked."""
        return max(1 - self.asked / self.sessions, 0.0)


def total(strata: Sequence[StratumSums]) -> Floats:
    """Return the weighted sums (figures x numbers)."""
    return np.asarray(sum((stratum.weight * stratum.total for stratum in strata), np.zeros_like(strata[0].total)))


def covariance(strata: Sequence[StratumSums], weights: Floats, most: Floats, *, finite: bool) -> Floats:
    """Return the covariances (figures x figures) of estimates that are weighted sums over sessions, to first order.

    `weights` (all numbers x figures): the derivative of each estimate with respect to the weighted sums. `most`: the
    most that one session can add to each estimate, before it is weighted. The sessions of each stratum get two of
    these, as in `sampled.here`, so that rare changes do not get an interval of width zero. `finite`: true if the
    sessions that were not asked are all that is unknown; else the answers may vary, too.
    """
    result = np.zeros((weights.shape[1],) * 2)
    for stratum in strata:
        size = max(stratum.asked, 2.0)
        sums = stratum.total.reshape(-1) @ weights
        within = weights.T @ stratum.products @ weights - np.outer(sums, sums) / size
        within += 2 * np.diag(most**2) / len(strata)
        left = stratum.left if finite else 1.0
        # The strata are independent samples, so their variances add up (Cochran, Sampling Techniques, 5.9).
        result += stratum.weight**2 * left * within * size / (size - 1)
    return result
