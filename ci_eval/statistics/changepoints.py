"""Where a series of figures changes its level: Pettitt's test (1979), by permutation, then again on both sides.

It looks at the order of the figures only, so that one bad night neither is a change nor hides one. Cutting again where
a cut was found, each tested by permutation, is what performance CI is used to (E-divisive; Matteson & James 2014).
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
    """`place` is the first one of the new level."""

    place: int
    before: float
    after: float
    p: float


def cuts(values: Sequence[float], *, floor: float, seed: int) -> list[Cut]:
    """In order; `floor`: smaller changes of level are none.

    A single figure is never a change: it takes some that agree, two after twenty, four after eight.
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
    """From 1 on; what is equal shares the middle of its ranks."""
    _, inverse, counts = np.unique(np.round(values, 12), return_inverse=True, return_counts=True)
    last = np.cumsum(counts)
    return np.asarray((last - (counts - 1) / 2)[inverse], dtype=np.float64)


def _largest(ranks: Floats) -> tuple[NDArray[np.intp], Floats]:
    """Of each row: where its best cut is, and by how many pairs the order is that of a change there."""
    n = ranks.shape[1]
    left = np.arange(1, n)
    moved = np.abs(2 * np.cumsum(ranks, axis=1)[:, :-1] - left * (n + 1))
    best = np.argmax(moved, axis=1)
    return best + 1, np.asarray(moved[np.arange(len(ranks)), best])
