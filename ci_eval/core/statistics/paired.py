"""The intervals of several differences at once, and the verdicts on them.

An interval excludes 0 exactly if the p-value beside it is below 5 %. If several figures are judged together, their
intervals are widened so that all of them hold at once with 95 %. For this, each statistic is turned into a normal one
of the same tail probability and compared with the distribution of the largest of all, which takes account of how the
figures move together (single-step max-T: Westfall & Young 1993; Hothorn, Bretz & Westfall 2008).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import erf, exp, pi, sqrt
from statistics import median

import numpy as np

from ci_eval.core.model import Difference, Verdict
from ci_eval.core.statistics.student import NORMAL, Floats, critical_values, tails

LEVEL = 0.95
FOUR_OF_FIVE = NORMAL.inv_cdf(0.8)
"""The number of standard errors that a normal variable stays below four times out of five."""
FLOORS = {"share": 0.001, "score": 0.001, "rank": 0.01, "ms": 0.5, "count": 0.0}
"""The smallest difference, by unit, that may be called better or worse."""
MARGINS = {"share": 0.005, "score": 0.005, "rank": 0.1, "ms": 2.0, "count": 0.0}
"""The margin, by unit: two sides are equivalent if they are shown to differ by less."""
DRAWS = 100_000
_FEW = 100
"""The number of draws beyond a value below which its p-value comes from Bonferroni's bound instead."""


@dataclass(frozen=True)
class Spread:
    """The differences (new - base) of several figures with their standard errors. Each array has one element per
    figure."""

    base: Floats
    new: Floats
    center: Floats
    """The middle of each interval; not always the difference itself."""
    error: Floats
    """The standard errors; NaN or infinite if none can be given."""
    df: Floats
    """The degrees of freedom of t for each standard error; infinite if the normal distribution is used."""
    covariance: Floats
    """A matrix (figures x figures) proportional to the covariances of the differences: how the figures move together.
    The row and the column of a figure that does not vary are 0."""

    @property
    def difference(self) -> Floats:
        """The differences, new minus base."""
        return self.new - self.base


@dataclass(frozen=True)
class Interval:
    """The 95 % interval of one difference; `p` is below 5 % exactly if the interval excludes 0."""

    low: float
    high: float
    p: float
    detectable: float
    """The smallest true difference that data like these would show four times out of five."""


def joint(spread: Spread, family: Sequence[int]) -> list[Interval]:
    """Return one interval per figure of the family (indices of figures): all of them hold the true differences at once
    with 95 %."""
    indices = list(family)
    center, error, df = spread.center[indices], spread.error[indices], spread.df[indices]
    p, errors = _p_values(center, error, df), critical_values(1 - LEVEL, df)
    # A figure without an error cannot move, so it must not widen the intervals of the others.
    uncertain = np.where(error > 0, 1.0, 0.0)
    largest = _draw_largest(spread.covariance[np.ix_(indices, indices)] * np.outer(uncertain, uncertain))
    if largest is not None:
        errors = critical_values(2 * NORMAL.cdf(-float(np.quantile(largest, LEVEL))), df)
        p = _adjust(p, largest)
    return _intervals(center, error, p, errors)


def singly(spread: Spread, tests: int = 1) -> list[Interval]:
    """Return one interval per figure, each holding by itself with 95 %. If `tests` > 1, the intervals are adjusted for
    that number of tests (Bonferroni)."""
    p = np.minimum(_p_values(spread.center, spread.error, spread.df) * tests, 1)
    return _intervals(spread.center, spread.error, p, critical_values((1 - LEVEL) / tests, spread.df))


def _p_values(center: Floats, error: Floats, df: Floats) -> Floats:
    with np.errstate(invalid="ignore", divide="ignore"):
        # Without an error, the difference is exact: p is 1 or 0.
        return np.where(error > 0, tails(np.abs(center) / error, df), center == 0)


def _intervals(center: Floats, error: Floats, p: Floats, errors: Floats) -> list[Interval]:
    reach = errors * error
    detectable = reach + FOUR_OF_FIVE * error
    return [
        Interval(*map(float, numbers)) for numbers in zip(center - reach, center + reach, p, detectable, strict=True)
    ]


def _draw_largest(covariance: Floats) -> Floats | None:
    """Return sorted draws of max |z| over normal variables with these covariances, or None if fewer than two of them
    vary: then there is nothing to adjust for."""
    vary = np.flatnonzero(covariance.diagonal() > 0)
    if len(vary) < 2:
        return None
    length = np.sqrt(covariance.diagonal()[vary])
    root = _root(covariance[np.ix_(vary, vary)] / np.outer(length, length))
    # Always the same seed, so that equal data have equal intervals.
    variables = np.random.default_rng(11).standard_normal((DRAWS, len(vary))) @ root.T
    return np.sort(np.abs(variables).max(axis=1))


SAME = 1e-8
"""The rest of a unit variance that counts as rounding: below it, the variable is a sum of others."""


def _root(correlation: Floats) -> Floats:
    """Return the lower triangle L with L Lᵀ = the correlation (Cholesky)."""
    # Eigenvectors would do as well, but those of equal eigenvalues differ from one linear algebra library to the next,
    # and with them the draws.
    root = np.zeros_like(correlation)
    for column in range(len(correlation)):
        pivot = correlation[column, column] - root[column, :column] @ root[column, :column]
        if pivot > SAME:
            below = correlation[column:, column] - root[column:, :column] @ root[column, :column]
            root[column:, column] = below / np.sqrt(pivot)
    return root


def _adjust(alone: Floats, largest: Floats) -> Floats:
    """Return adjusted p-values: the share of the draws beyond each value, or Bonferroni's bound if few draws are.

    `alone`: the p-values of each figure by itself. `largest`: sorted draws, see `_draw_largest`.
    """
    beyond = DRAWS - np.searchsorted(largest, critical_values(alone, np.inf))
    bound = np.minimum(alone * len(alone), _FEW / DRAWS)
    # An adjusted p-value is never below that of the figure alone, whatever the draws say.
    adjusted: Floats = np.maximum(np.where(beyond < _FEW, bound, beyond / DRAWS), alone)
    return adjusted


def verdict(interval: Interval, difference: float, unit: str, better: str, *, stretch: float = 1.0) -> Verdict:
    """Return the verdict on a difference. To be called equivalent, an interval `stretch` times as wide must fit in the
    margin."""
    if better == "neither":
        return Verdict.NOT_COMPARABLE
    if (interval.low > 0 or interval.high < 0) and abs(difference) >= FLOORS.get(unit, 0.0):
        return Verdict.BETTER if (difference > 0) == (better == "higher") else Verdict.WORSE
    low, high = stretch_interval(interval.low, interval.high, stretch)
    margin = MARGINS.get(unit, 0.0)
    return Verdict.EQUIVALENT if -margin < low and high < margin else Verdict.NOT_SHOWN


def stretch_interval(low: float, high: float, times: float) -> tuple[float, float]:
    """Return an interval around the same middle, `times` as wide."""
    middle, half = (low + high) / 2, (high - low) / 2 * times
    return middle - half, middle + half


STEP = 0.01


def expected_maximum(count: int) -> float:
    """Return the expected largest of so many independent standard normal variables."""
    # Beyond 8 standard errors, the normal density is below 1e-14.
    points = (-8 + STEP * place for place in range(int(16 / STEP) + 1))
    return STEP * sum(
        x * count * exp(-x * x / 2) / sqrt(2 * pi) * ((1 + erf(x / sqrt(2))) / 2) ** (count - 1) for x in points
    )


def standard_error(difference: Difference) -> float | None:
    """Return the standard error of a difference; None if nothing about it is uncertain, or it has no interval."""
    if difference.low is None or difference.high is None or difference.detectable is None:
        return None
    return (difference.detectable - (difference.high - difference.low) / 2) / FOUR_OF_FIVE


def winners_bias(differences: Iterable[Difference | None], count: int) -> float | None:
    """Return by how much the best of `count` evaluations is overestimated if all are equally good, or None if nothing
    is uncertain.

    `differences`: those of pairs of evaluations.
    """
    errors = [error for difference in differences if difference and (error := standard_error(difference))]
    # If all figures have equal and independent errors, a difference has √2 times the error of a figure.
    return expected_maximum(count) * median(errors) / sqrt(2) if errors and count > 2 else None


def bias_text(bias: float | None, count: int, unit: str, *, what: Sequence[str] = ("evaluation", "evaluations")) -> str:
    """Return a sentence about the winner's bias for reports, or "" if there is none."""
    if not bias:
        return ""
    size = f"{bias * 100:.2f} points" if unit == "share" else f"{bias:.3g}"
    return (
        f"if all {count} {what[1]} were equally good, the best one would look about {size} better than it is, only "
        f"because it was picked: evaluate that {what[0]} again on other sessions (another interpret.seed) before you "
        "quote its figure"
    )
