"""Elsewhere: what the files (or projects) that were seen say of others like them.

Sessions of one file resemble each other, and files differ in size: the standard error is the jackknife's, which leaves
out one file after the other (CV3: MacKinnon, Nielsen & Webb 2023), and t has as many degrees of freedom as the fourth
moments of the files' shares in it allow (after Pan & Wall 2002). Below FEWEST effective files there is no interval: a
change that sits in one file of twenty would too often not be among them at all (rule of three: 3/60 = 5 %).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ci_eval.model import OtherCode
from ci_eval.statistics.paired import LEVEL, Spread
from ci_eval.statistics.student import Floats, errors_at

FEWEST = 60
"""Effective clusters of a difference; below, the intervals of benchmarks/verdicts.py hold the truth too rarely."""
STRETCH = 1.5
"""How many times as wide an interval must fit in the margin before other code is called equivalent: where a loss sits
in few files and few of these were seen, both the difference and its error look too small."""
FEWEST_ALIKE = 300
"""Effective clusters from which on other code may be called equivalent. On worlds these numbers were not chosen on, a
loss as large as the margin that sat in one file of sixty went unseen, and was called equivalent, in 11 % of the
comparisons of 100 files, up to 10 % of those of 200 and up to 4 % of those of 400 and 700."""
FEWEST_OF_FIGURE = 20
"""The same of a single figure: what it is made of is seldom as uneven as a difference."""


@dataclass(frozen=True)
class Clusters:
    """The differences with their errors, and how many clusters of equal size are worth as much."""

    spread: Spread
    effective: Floats


def elsewhere(rows: Floats) -> Clusters:
    """The differences in files like these.

    `rows` (clusters x figures x 4): sums of base's numerator and denominator, then new's.
    """
    total = rows.sum(axis=0)
    difference = _difference(total)
    deviations = _difference(total - rows) - difference
    count = len(rows)
    squares, fourths = (deviations**2).sum(axis=0), (deviations**4).sum(axis=0)
    error = np.sqrt(squares * (count - 1) / max(count, 1))
    with np.errstate(invalid="ignore", divide="ignore"):
        effective = effective_of(rows[:, :, 1] + rows[:, :, 3])
        base, new = total[:, 0] / total[:, 1], total[:, 2] / total[:, 3]
        # Where nothing changed, one session might have: the rule of three comes out of t with one degree of freedom.
        alike = squares == 0
        error = np.where(alike, 1 / np.minimum(total[:, 1], total[:, 3]), error)
        df = np.where(alike, 1, np.minimum(squares**2 / fourths, effective - 1))
    return Clusters(Spread(base, new, new - base, error, np.maximum(df, 1), deviations), effective)


def effective_of(sizes: Floats) -> Floats:
    """So many clusters of equal size would say as much: (Σn)²/Σn² of each column."""
    with np.errstate(invalid="ignore", divide="ignore"):
        found = sizes.sum(axis=0) ** 2 / (sizes**2).sum(axis=0)
    return np.asarray(np.nan_to_num(found))


def _difference(sums: Floats) -> Floats:
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(sums[..., 2] / sums[..., 3] - sums[..., 0] / sums[..., 1])


def figures(rows: Floats, units: Sequence[str]) -> list[OtherCode]:
    """Single figures in files like these: `rows` (clusters x figures x 2) are sums of numerators and denominators.

    There is no interval below FEWEST_OF_FIGURE effective clusters. Those of shares are made on the logistic scale.
    """
    total, effective = rows.sum(axis=0), effective_of(rows[:, :, 1])
    with np.errstate(invalid="ignore", divide="ignore"):
        values = total[:, 0] / total[:, 1]
        deviations = (total - rows)[:, :, 0] / (total - rows)[:, :, 1] - values
        squares, fourths = (deviations**2).sum(axis=0), (deviations**4).sum(axis=0)
        df = np.maximum(np.minimum(2 * squares**2 / fourths, effective - 1), 1)
    given = (effective >= FEWEST_OF_FIGURE) & np.isfinite(squares) & (fourths > 0)
    reach = errors_at(1 - LEVEL, np.where(given, df, 1)) * np.sqrt(squares * (1 - 1 / max(len(rows), 1)))
    spans = [
        _between(float(values[each]), float(reach[each]), unit) if given[each] else (None, None)
        for each, unit in enumerate(units)
    ]
    return [OtherCode(low=low, high=high, effective=float(e)) for (low, high), e in zip(spans, effective, strict=True)]


def _between(value: float, reach: float, unit: str) -> tuple[float, float]:
    if unit not in {"share", "score"} or not 0 < value < 1:
        return value - reach, value + reach
    odds, factor = value / (1 - value), np.exp(reach / (value * (1 - value)))
    low, high = odds / factor, odds * factor
    return float(low / (1 + low)), float(high / (1 + high))
