"""Intervals of several differences at once, and what may be concluded from them.

An interval excludes 0 exactly where the p-value beside it is below 5 %. Where several figures are judged together,
their intervals are widened so that all of them hold at once with 95 %: each statistic is turned into a normal one of
the same tail probability and compared with the distribution of the largest of all, which takes account of how the
figures move together (single-step max-T: Westfall & Young 1993; Hothorn, Bretz & Westfall 2008).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ci_eval.model import Verdict
from ci_eval.statistics.student import NORMAL, Floats, errors_at, tails

LEVEL = 0.95
FOUR_OF_FIVE = NORMAL.inv_cdf(0.8)
"""Standard errors that a normal variable stays below four times out of five."""
FLOORS = {"share": 0.001, "score": 0.001, "rank": 0.01, "ms": 0.5, "count": 0.0}
"""By unit: a difference smaller than this is never called better or worse."""
MARGINS = {"share": 0.005, "score": 0.005, "rank": 0.1, "ms": 2.0, "count": 0.0}
"""By unit: two sides are equivalent where they are shown to differ by less than this."""
DRAWS = 100_000
_FEW = 100
"""Where fewer draws than this are beyond a value, its p-value comes from Bonferroni's bound instead."""


@dataclass(frozen=True)
class Spread:
    """Differences (new - base) of several figures with their standard errors; each array has one element per figure."""

    base: Floats
    new: Floats
    center: Floats
    """The middle of each interval; not always the difference itself."""
    error: Floats
    """Standard errors; NaN or infinite where none can be given."""
    df: Floats
    """Degrees of freedom of t for each standard error; infinite where the normal distribution is used."""
    scores: Floats
    """(any number of rows x figures): the inner products of the columns are proportional to the covariances of the
    differences. Tells how the figures move together."""

    @property
    def difference(self) -> Floats:
        """new - base."""
        return self.new - self.base


@dataclass(frozen=True)
class Interval:
    """The 95 % interval of one difference; `p` is below 5 % exactly where the interval excludes 0."""

    low: float
    high: float
    p: float
    detectable: float
    """The smallest true difference that data like these would show four times out of five."""


def joint(spread: Spread, family: Sequence[int]) -> list[Interval]:
    """One interval per figure of the family (figures' indices): all hold the true differences at once with 95 %."""
    places = list(family)
    center, error, df = spread.center[places], spread.error[places], spread.df[places]
    p, errors = _alone(center, error, df), errors_at(1 - LEVEL, df)
    largest = _largest(spread.scores[:, places])
    if largest is not None:
        errors = errors_at(2 * NORMAL.cdf(-float(np.quantile(largest, LEVEL))), df)
        p = _adjusted(p, largest)
    return _intervals(center, error, p, errors)


def singly(spread: Spread, tests: int = 1) -> list[Interval]:
    """One interval per figure, each holding by itself with 95 %; with `tests` > 1, adjusted as one of so many
    (Bonferroni)."""
    p = np.minimum(_alone(spread.center, spread.error, spread.df) * tests, 1)
    return _intervals(spread.center, spread.error, p, errors_at((1 - LEVEL) / tests, spread.df))


def _alone(center: Floats, error: Floats, df: Floats) -> Floats:
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(error > 0, tails(np.abs(center) / error, df), center == 0)


def _intervals(center: Floats, error: Floats, p: Floats, errors: Floats) -> list[Interval]:
    reach = errors * error
    seen = reach + FOUR_OF_FIVE * error
    return [Interval(*map(float, each)) for each in zip(center - reach, center + reach, p, seen, strict=True)]


def _largest(scores: Floats) -> Floats | None:
    """Draws, sorted, of max |z| over normal variables that are correlated as the columns of `scores` are.

    None where there are fewer than two of them: then there is nothing to adjust for.
    """
    length = np.sqrt((scores**2).sum(axis=0))
    unit = scores[:, length > 0] / length[length > 0]
    if unit.shape[1] < 2:
        return None
    values, vectors = np.linalg.eigh(unit.T @ unit)
    root = vectors * np.sqrt(np.clip(values, 0, None))
    # Always the same seed, so that equal data have equal intervals.
    drawn = np.random.default_rng(11).standard_normal((DRAWS, len(values))) @ root.T
    return np.sort(np.abs(drawn).max(axis=1))


def _adjusted(alone: Floats, largest: Floats) -> Floats:
    """Adjusted p-values: the share of the draws beyond each value, or Bonferroni's bound where few draws are.

    `alone`: the p-values of each figure by itself. `largest`: sorted draws, see `_largest`.
    """
    beyond = DRAWS - np.searchsorted(largest, errors_at(alone, np.inf))
    bound = np.minimum(alone * len(alone), _FEW / DRAWS)
    return np.maximum(np.where(beyond < _FEW, bound, beyond / DRAWS), alone)


def verdict(found: Interval, difference: float, unit: str, better: str, *, stretch: float = 1.0) -> Verdict:
    """What may be said of a difference; to be called equivalent, an interval `stretch` times as wide must fit in the
    margin."""
    if better == "neither":
        return Verdict.NOT_COMPARABLE
    if (found.low > 0 or found.high < 0) and abs(difference) >= FLOORS.get(unit, 0.0):
        return Verdict.BETTER if (difference > 0) == (better == "higher") else Verdict.WORSE
    low, high = stretched(found.low, found.high, stretch)
    margin = MARGINS.get(unit, 0.0)
    return Verdict.EQUIVALENT if -margin < low and high < margin else Verdict.NOT_SHOWN


def stretched(low: float, high: float, times: float) -> tuple[float, float]:
    """An interval around the same middle, `times` as wide."""
    middle, half = (low + high) / 2, (high - low) / 2 * times
    return middle - half, middle + half
