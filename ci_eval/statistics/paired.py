"""Intervals of several differences at once, and what may be concluded from them.

An interval excludes 0 exactly where the p-value beside it is below 5 %, for one figure and for several: each
statistic is turned into a normal one of the same tail, and the largest of all is what has to be exceeded, given how the
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
FLOORS = {"share": 0.001, "score": 0.001, "rank": 0.01, "ms": 0.5, "count": 0.0}
"""By unit: a smaller difference is never called one."""
MARGINS = {"share": 0.005, "score": 0.005, "rank": 0.1, "ms": 2.0, "count": 0.0}
"""By unit: equivalent is what is shown to differ by less."""
DRAWS = 100_000
_FEW = 100
"""Draws that say less of a p-value than the number of figures does."""


@dataclass(frozen=True)
class Spread:
    """Differences (new - base) of so many figures, and what is known of their errors."""

    base: Floats
    new: Floats
    center: Floats
    """Of the intervals; not always the difference itself."""
    error: Floats
    """Standard errors; not finite where none can be given."""
    df: Floats
    """Degrees of freedom of the standard errors; infinite where they are normal."""
    scores: Floats
    """(anything x figures): the inner products of its columns are as the covariances of the differences."""

    @property
    def difference(self) -> Floats:
        """new - base."""
        return self.new - self.base


@dataclass(frozen=True)
class Interval:
    """Of one difference; `low`, `high` and `p` say the same."""

    low: float
    high: float
    p: float
    detectable: float
    """The smallest true difference that data like these would show four times out of five."""


def joint(spread: Spread, family: Sequence[int]) -> list[Interval]:
    """Intervals that hold the truths of all figures of the family together in 95 of 100 cases; one per figure."""
    places = list(family)
    center, error, df = spread.center[places], spread.error[places], spread.df[places]
    p, errors = _alone(center, error, df), errors_at(1 - LEVEL, df)
    largest = _largest(spread.scores[:, places])
    if largest is not None:
        errors = errors_at(2 * NORMAL.cdf(-float(np.quantile(largest, LEVEL))), df)
        p = _adjusted(p, largest)
    return _intervals(center, error, p, errors)


def singly(spread: Spread, tests: int = 1) -> list[Interval]:
    """The same of each figure by itself; `tests`: as one of so many that are looked at (Bonferroni)."""
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
    """Sorted draws of the largest of normal variables that move together as the scores do; None for a single one."""
    length = np.sqrt((scores**2).sum(axis=0))
    unit = scores[:, length > 0] / length[length > 0]
    if unit.shape[1] < 2:
        return None
    values, vectors = np.linalg.eigh(unit.T @ unit)
    root = vectors * np.sqrt(np.clip(values, 0, None))
    # Always the same draws: figures that are equal have equal intervals.
    drawn = np.random.default_rng(11).standard_normal((DRAWS, len(values))) @ root.T
    return np.sort(np.abs(drawn).max(axis=1))


def _adjusted(alone: Floats, largest: Floats) -> Floats:
    """The share of the draws that exceed as rare a value; where these are few, Bonferroni's bound."""
    beyond = DRAWS - np.searchsorted(largest, errors_at(alone, np.inf))
    bound = np.minimum(alone * len(alone), _FEW / DRAWS)
    return np.maximum(np.where(beyond < _FEW, bound, beyond / DRAWS), alone)


def verdict(found: Interval, difference: float, unit: str, better: str, *, stretch: float = 1.0) -> Verdict:
    """What may be said; `stretch`: how many times as wide the interval must fit in the margin to call it equivalent."""
    if better == "neither":
        return Verdict.NOT_COMPARABLE
    if (found.low > 0 or found.high < 0) and abs(difference) >= FLOORS.get(unit, 0.0):
        return Verdict.BETTER if (difference > 0) == (better == "higher") else Verdict.WORSE
    low, high = stretched(found.low, found.high, stretch)
    margin = MARGINS.get(unit, 0.0)
    return Verdict.EQUIVALENT if -margin < low and high < margin else Verdict.NOT_SHOWN


def stretched(low: float, high: float, times: float) -> tuple[float, float]:
    """An interval around the same middle, so many times as wide."""
    middle, half = (low + high) / 2, (high - low) / 2 * times
    return middle - half, middle + half
