"""The search for level changes in a series of figures: Pettitt's test (1979) with a p-value from permutations.

After a change, the series is cut and both sides are searched in the same way, as change point detection for performance
in CI usually does (E-divisive; Matteson & James 2014). The test reads the ranks of the figures, not their size: a
single very bad nightly run is no change, and does not hide a change either.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

LEVEL = 0.01
# The observed series is one permutation itself, so p-values are multiples of 1/1000.
PERMUTATIONS = 999


@dataclass(frozen=True)
class Cut:
    """A change of level; `before` and `after` are the means of the stretches that it separates."""

    place: int
    """The index of the first figure of the new level."""
    before: float
    after: float
    p: float


def cuts(values: Sequence[float], *, floor: float, seed: int) -> list[Cut]:
    """Return the changes of level in `values`, in order, without changes smaller than `floor`.

    A single figure is never a change. A few figures that agree may be one: two after twenty others, or four after
    eight.
    """
    if not values:
        return []
    series = np.asarray(values, dtype=np.float64)
    p_values: dict[int, float] = {}
    _search(series, 0, len(series), floor, seed, p_values)
    places = [0, *sorted(p_values), len(series)]
    means = [float(series[low:high].mean()) for low, high in pairwise(places)]
    return [Cut(place, means[index], means[index + 1], p_values[place]) for index, place in enumerate(places[1:-1])]


def _search(series: Floats, begin: int, end: int, floor: float, seed: int, p_values: dict[int, float]) -> None:
    part = series[begin:end]
    # Even the best cut of so few figures cannot reach LEVEL: their permutations are too few.
    if len(part) < 3:
        return
    ranks = _ranks(part)
    place, size = _best_cuts(ranks[None, :])
    cut = int(place[0])
    # Rounding alone must not look like a change if `floor` is 0.
    if abs(part[cut:].mean() - part[:cut].mean()) < max(floor, 1e-12):
        return
    # The same stretch of the same series always gives the same p-value.
    # numpy refuses negative seeds, and a configured seed may be negative.
    random = np.random.default_rng([4, seed % 2**63, begin, end])
    permuted = random.permuted(np.tile(ranks, (PERMUTATIONS, 1)), axis=1)
    p = float(((_best_cuts(permuted)[1] >= size[0] - 1e-9).sum() + 1) / (PERMUTATIONS + 1))
    if p >= LEVEL:
        return
    p_values[begin + cut] = p
    _search(series, begin, begin + cut, floor, seed, p_values)
    _search(series, begin + cut, end, floor, seed, p_values)


def _ranks(values: Floats) -> Floats:
    """Return the rank of each value, from 1 on. Equal values share the mean of their ranks."""
    # Figures that differ by rounding alone share a rank.
    _, inverse, counts = np.unique(np.round(values, 12), return_inverse=True, return_counts=True)
    last = np.cumsum(counts)
    return np.asarray((last - (counts - 1) / 2)[inverse], dtype=np.float64)


def _best_cuts(ranks: Floats) -> tuple[NDArray[np.intp], Floats]:
    """Return, for each row of ranks, the best place to cut and Pettitt's statistic |U| there.

    |U| counts the pairs (one value before the cut, one after it) in one order, minus those in the other order.
    """
    n = ranks.shape[1]
    left = np.arange(1, n)
    # Sums of ranks give Pettitt's U without counting pairs (Pettitt 1979).
    moved = np.abs(2 * np.cumsum(ranks, axis=1)[:, :-1] - left * (n + 1))
    best = np.argmax(moved, axis=1)
    return best + 1, np.asarray(moved[np.arange(len(ranks)), best])
