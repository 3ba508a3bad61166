"""The agreement of two raters beyond chance: Cohen's kappa.

Interval: the large-sample standard error of Fleiss, Cohen and Everitt (Psychological Bulletin 72, 1969).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt

FEWEST = 20
"""The number of items below which there is no interval: the standard error is one of large samples."""
NORMAL = 1.959964


@dataclass(frozen=True, kw_only=True)
class Agreement:
    """The agreement of two raters on the items that both of them rated."""

    both: int
    """The number of items that both rated."""
    equal: int
    """The number of these with the same verdict."""
    kappa: float | None
    """Cohen's kappa: 1 for full agreement, 0 for that of chance. None if both raters gave all items one verdict."""
    low: float | None = None
    high: float | None = None
    """The 95 % interval; None for few items, and for full agreement, of which the standard error is 0."""
    counts: dict[tuple[str, str], int]
    """The number of items by the verdict of the first rater and that of the second."""


def measure_agreement(pairs: Sequence[tuple[str, str]]) -> Agreement:
    """Return the agreement of two raters; a pair has the verdicts of both on one item."""
    counts, size = Counter(pairs), len(pairs)
    equal = sum(count for (first, second), count in counts.items() if first == second)
    of_first, of_second = (Counter(pair[side] for pair in pairs) for side in (0, 1))
    by_chance = sum(of_first[verdict] * of_second[verdict] for verdict in of_first)
    # In integers, so that full agreement by chance is exact.
    if not size or by_chance == size**2:
        return Agreement(both=size, equal=equal, kappa=None, counts=dict(counts))
    observed, chance = equal / size, by_chance / size**2
    kappa = (observed - chance) / (1 - chance)
    error = _standard_error(counts, observed, chance)
    if size < FEWEST or not error:
        return Agreement(both=size, equal=equal, kappa=kappa, counts=dict(counts))
    low, high = max(kappa - NORMAL * error, -1.0), min(kappa + NORMAL * error, 1.0)
    return Agreement(both=size, equal=equal, kappa=kappa, low=low, high=high, counts=dict(counts))


def _standard_error(counts: Counter[tuple[str, str]], observed: float, chance: float) -> float:
    size = counts.total()
    rows, columns = Counter[str](), Counter[str]()
    for (first, second), count in counts.items():
        rows[first] += count
        columns[second] += count
    variance = -((observed * chance - 2 * chance + observed) ** 2)
    for (first, second), count in counts.items():
        margins = (columns[first] + rows[second]) / size
        weight = (1 - chance) - margins * (1 - observed) if first == second else (1 - observed) * margins
        variance += count / size * weight**2
    # Rounding may leave a little less than nothing.
    return sqrt(max(variance, 0.0) / size) / (1 - chance) ** 2 if variance > 1e-12 else 0.0
