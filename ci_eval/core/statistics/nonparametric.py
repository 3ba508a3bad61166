"""Test ranks, signs and categories: changes of level, two samples, directions, and the agreement of raters."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import pairwise
from math import erfc, exp, lgamma, log, sqrt

import msgspec
import numpy as np
from msgspec.structs import replace
from numpy.typing import NDArray

from ci_eval.core.statistics.student import Floats

LEVEL = 0.01
# The observed series counts as one more permutation, so p-values are multiples of 1/1000.
PERMUTATIONS = 999


class Cut(msgspec.Struct, frozen=True):
    """A change of level, between the mean `before` and the mean `after`."""

    place: int
    """The index of the first figure of the new level."""
    before: float
    after: float
    p: float


def find_level_changes(values: Sequence[float], *, floor: float, seed: int) -> list[Cut]:
    """Return the changes of level by at least `floor`, in order, by Pettitt's test (1979) with permutations.

    Both sides of a change are searched again (E-divisive; Matteson & James 2014). The test reads ranks, so a single
    very bad night is not a change, and does not hide one. A few equal figures may be a change, such as two after twenty
    others, or four after eight.
    """
    series, p_values = np.asarray(values, dtype=np.float64), dict[int, float]()
    if not values:
        return []
    _search(series, 0, len(series), floor, seed, p_values)
    places = [0, *sorted(p_values), len(series)]
    means = [float(series[low:high].mean()) for low, high in pairwise(places)]
    return [Cut(place, means[index], means[index + 1], p_values[place]) for index, place in enumerate(places[1:-1])]


def _search(series: Floats, begin: int, end: int, floor: float, seed: int, p_values: dict[int, float]) -> None:
    part = series[begin:end]
    # So few figures have too few permutations for any cut to reach LEVEL.
    if len(part) < 3:
        return
    # Figures that differ by rounding alone share a rank.
    ranks, _ = _ranks(np.round(part, 12))
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


def _ranks(values: Floats) -> tuple[Floats, NDArray[np.intp]]:
    """Return the rank of each value, from 1, and how often each value occurs. Equal values share their mean rank."""
    _, inverse, counts = np.unique(values, return_inverse=True, return_counts=True)
    return (np.cumsum(counts) - (counts - 1) / 2)[inverse], counts


def _best_cuts(ranks: Floats) -> tuple[NDArray[np.intp], Floats]:
    """Return, for each row of ranks, the best place to cut it, and Pettitt's |U| there."""
    n = ranks.shape[1]
    left = np.arange(1, n)
    # Sums of ranks give Pettitt's U without counting pairs (Pettitt 1979).
    moved = np.abs(2 * np.cumsum(ranks, axis=1)[:, :-1] - left * (n + 1))
    best = np.argmax(moved, axis=1)
    return best + 1, np.asarray(moved[np.arange(len(ranks)), best])


FEWEST_RATED = 20
"""With fewer items, kappa has no interval, since its standard error is for large samples."""
NORMAL_975 = 1.959964


class Agreement(msgspec.Struct, frozen=True, kw_only=True):
    """The agreement of two raters on items that both rated."""

    both: int
    equal: int
    kappa: float | None
    """Cohen's kappa: 1 for full agreement, 0 for chance. None if both raters gave all items the same verdict."""
    low: float | None = None
    high: float | None = None
    """The 95 % interval; None for few items, and for full agreement (standard error 0)."""
    counts: dict[tuple[str, str], int]


def measure_agreement(pairs: Sequence[tuple[str, str]]) -> Agreement:
    """Return the agreement with the standard error of Fleiss, Cohen and Everitt (Psychological Bulletin 72, 1969)."""
    counts, size = Counter(pairs), len(pairs)
    equal = sum(count for (first, second), count in counts.items() if first == second)
    of_first, of_second = (Counter(pair[side] for pair in pairs) for side in (0, 1))
    by_chance = sum(of_first[verdict] * of_second[verdict] for verdict in of_first)
    plain = Agreement(both=size, equal=equal, kappa=None, counts=dict(counts))
    # Integers are compared, so that full agreement by chance is found exactly.
    if not size or by_chance == size**2:
        return plain
    observed, chance = equal / size, by_chance / size**2
    kappa = (observed - chance) / (1 - chance)
    variance = -((observed * chance - 2 * chance + observed) ** 2)
    for (first, second), count in counts.items():
        margins = (of_second[first] + of_first[second]) / size
        weight = (1 - chance) - margins * (1 - observed) if first == second else (1 - observed) * margins
        variance += count / size * weight**2
    # Rounding may leave a variance slightly above 0.
    if size < FEWEST_RATED or variance <= 1e-12:
        return replace(plain, kappa=kappa)
    reach = NORMAL_975 * (sqrt(variance / size) / (1 - chance) ** 2)
    return replace(plain, kappa=kappa, low=max(kappa - reach, -1.0), high=min(kappa + reach, 1.0))


def sign_test(up: int, down: int) -> float:
    """Return the exact two-sided p-value of the hypothesis that both directions are equally likely."""
    changes, fewer = up + down, min(up, down)
    if not changes:
        return 1.0
    # Logarithms are used, since 2^-changes underflows from about 1,075 changes on.
    term = exp(lgamma(changes + 1) - lgamma(fewer + 1) - lgamma(changes - fewer + 1) - changes * log(2))
    tail = 0.0
    for count in range(fewer, -1, -1):
        tail += term
        # Smaller terms no longer change a float's last digit.
        if term < tail * 1e-17:
            break
        term *= count / (changes - count + 1)
    return min(1.0, 2 * tail)


def mann_whitney(first: Floats, second: Floats) -> tuple[float, float]:
    """Return U of `first`, and its two-sided p (normal approximation, corrected for ties and continuity)."""
    total = len(first) + len(second)
    ranks, counts = _ranks(np.concatenate([first, second]))
    pairs = len(first) * len(second)
    u = float(ranks[: len(first)].sum()) - len(first) * (len(first) + 1) / 2
    ties = float((counts.astype(float) ** 3 - counts).sum())
    variance = pairs / 12 * (total + 1 - ties / (total * (total - 1)))
    if variance <= 0:
        return u, 1.0
    errors = (abs(u - pairs / 2) - 0.5) / sqrt(variance)
    return u, min(1.0, erfc(errors / sqrt(2)))
