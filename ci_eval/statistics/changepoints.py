"""Finds where a series of figures changes its level: Pettitt's test (1979), with its p-value from permutations.

Where it finds a change, the series is cut there and both sides are searched in the same way, as change point detection
for performance in CI usually does (E-divisive; Matteson & James 2014). The test looks at the ranks of the figures, not
their size: one very bad night is no change, and does not hide one either.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

LEVEL = 0.01
PERMUTATIONS = 999


@dataclass(frozen=True)
class Cut:
    """A change of level; `before` and `after` are the means of the stretches that it separates."""

    place: int
    """Index of the first figure of the new level."""
    before: float
    after: float
    p: float


def cuts(values: Sequence[float], *, floor: float, seed: int) -> list[Cut]:
    """The changes of level in `values`, in order; those smaller than `floor` do not count.

    A single figure is never a change; a few that agree may be: two after twenty others, or four after eight.
    """
    if not values:
        return []
    series = np.asarray(values, dtype=np.float64)
    found: dict[int, float] = {}
    _search(series, 0, len(series), floor, seed, found)
    places = [0, *sorted(found), len(series)]
    means = [float(series[low:high].mean()) for low, high in pairwise(places)]
    return [Cut(place, means[number], means[number + 1], found[place]) for number, place in enumerate(places[1:-1])]


def _search(series: Floats, begin: int, end: int, floor: float, seed: int, found: dict[int, float]) -> None:
    part = series[begin:end]
    if len(part) < 3:
        return
    ranks = _ranks(part)
    place, size = _largest(ranks[None, :])
    cut = int(place[0])
    if abs(part[cut:].mean() - part[:cut].mean()) < max(floor, 1e-12):
        return
    random = np.random.default_rng([4, seed % 2**63, begin, end])
    drawn = random.permuted(np.tile(ranks, (PERMUTATIONS, 1)), axis=1)
    p = float(((_largest(drawn)[1] >= size[0] - 1e-9).sum() + 1) / (PERMUTATIONS + 1))
    if p >= LEVEL:
        return
    found[begin + cut] = p
    _search(series, begin, begin + cut, floor, seed, found)
    _search(series, begin + cut, end, floor, seed, found)


def _ranks(values: Floats) -> Floats:
    """The rank of each value, from 1 on; equal values share the mean of their ranks."""
    _, inverse, counts = np.unique(np.round(values, 12), return_inverse=True, return_counts=True)
    last = np.cumsum(counts)
    return np.asarray((last - (counts - 1) / 2)[inverse], dtype=np.float64)


def _largest(ranks: Floats) -> tuple[NDArray[np.intp], Floats]:
    """For each row of ranks: the best place to cut, and Pettitt's statistic |U| there.

    |U| is how many more of the pairs (one value before the cut, one after it) are in one order than in the other.
    """
    n = ranks.shape[1]
    left = np.arange(1, n)
    moved = np.abs(2 * np.cumsum(ranks, axis=1)[:, :-1] - left * (n + 1))
    best = np.argmax(moved, axis=1)
    return best + 1, np.asarray(moved[np.arange(len(ranks)), best])
