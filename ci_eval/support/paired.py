"""Paired statistics over clusters: differences of figures, their intervals, p-values, and what may be concluded.

Sessions of one file are not independent: files are what is resampled (bootstrap; Efron & Tibshirani 1993) and what
swaps sides (permutation; Good 2005). Several tests: Holm 1979; Benjamini & Hochberg 1995.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ci_eval.model import Verdict

Floats = NDArray[np.float64]

BOOTSTRAPS = 2_000
PERMUTATIONS = 10_000
LEVEL = 0.95
POWER = 1.96 + 0.84
"""Standard errors that a difference must measure to be shown at 5 % four times out of five."""

FEW = 20
"""Clusters below which intervals tend to be too narrow, and standard errors to promise too much."""

BINS = 1_000
LONGEST = 1e6
"""Milliseconds; latencies are counted in bins whose bounds differ by 2 %, from 0.01 ms on."""

_RATIO = 1.02
_SMALLEST = 0.01
_CELLS = 4_000_000
"""Numbers held at once while resampling."""


@dataclass(frozen=True)
class Finding:
    """A difference of two figures, new - base."""

    base: float
    new: float
    difference: float
    low: float | None = None
    high: float | None = None
    p: float | None = None
    error: float | None = None
    """Standard error; None with fewer than FEW clusters, where what it promises does not hold."""


class Resampling:
    """The draws for one number of clusters: the same for every metric, so that their figures stay comparable."""

    def __init__(self, clusters: int, seed: int) -> None:
        self.clusters = clusters
        self._seed = seed % 2**63

    def ratios(self, sums: Floats) -> list[Finding | None]:
        """One finding per column of `sums` (clusters x metrics x 4): numerators and denominators, base and new.

        A figure is the sum of numerators / the sum of denominators; None where there is none on one side.
        """
        total = sums.sum(axis=0)
        with np.errstate(invalid="ignore", divide="ignore"):
            base, new = total[:, 0] / total[:, 1], total[:, 2] / total[:, 3]
        width = sums.shape[1]
        replicates: Floats = np.full((0, width), np.nan)
        p: Floats = np.full(width, np.nan)
        if self.clusters > 1:
            replicates = self._bootstrap(sums)
            p = self._permute(sums, total, new - base)
        found: list[Finding | None] = []
        for each in range(width):
            if not (np.isfinite(base[each]) and np.isfinite(new[each])):
                found.append(None)
                continue
            column = replicates[:, each][np.isfinite(replicates[:, each])] if len(replicates) else replicates[:, each]
            found.append(_finding(float(base[each]), float(new[each]), column, float(p[each]), self.clusters))
        return found

    def _bootstrap(self, sums: Floats) -> Floats:
        flat = sums.reshape(self.clusters, -1)
        random = np.random.default_rng([1, self._seed])
        out: Floats = np.empty((BOOTSTRAPS, sums.shape[1]))
        for rows in _batches(BOOTSTRAPS, max(self.clusters, flat.shape[1])):
            times = random.multinomial(self.clusters, np.full(self.clusters, 1 / self.clusters), size=len(rows))
            drawn = (times.astype(np.float64) @ flat).reshape(len(rows), -1, 4)
            with np.errstate(invalid="ignore", divide="ignore"):
                out[rows] = drawn[:, :, 2] / drawn[:, :, 3] - drawn[:, :, 0] / drawn[:, :, 1]
        return out

    def _permute(self, sums: Floats, total: Floats, observed: Floats) -> Floats:
        """Share of the ways to swap sides, file by file, whose difference is at least as large."""
        swing = np.concatenate([sums[:, :, 2] - sums[:, :, 0], sums[:, :, 3] - sums[:, :, 1]], axis=1)
        both = np.stack([total[:, 0] + total[:, 2], total[:, 1] + total[:, 3]])
        extreme = np.zeros(sums.shape[1])
        drawn = 0
        for signs in self.signs(swing.shape[1]):
            swung = (signs @ swing).reshape(len(signs), 2, -1)
            with np.errstate(invalid="ignore", divide="ignore"):
                new = (both[0] + swung[:, 0]) / (both[1] + swung[:, 1])
                base = (both[0] - swung[:, 0]) / (both[1] - swung[:, 1])
                extreme += (np.abs(new - base) >= np.abs(observed) - 1e-12).sum(axis=0)
            drawn += len(signs)
        return self.share(extreme, drawn)

    def signs(self, width: int) -> list[Floats]:
        """Batches of rows of +1 and -1, one per cluster; all there are, if these are fewer than the drawn ones."""
        if 2**self.clusters <= PERMUTATIONS:
            numbers = np.arange(2**self.clusters)
            return [np.asarray(1.0 - 2.0 * ((numbers[:, None] >> np.arange(self.clusters)) & 1), dtype=np.float64)]
        random = np.random.default_rng([2, self._seed])
        return [
            np.asarray(1.0 - 2.0 * random.integers(2, size=(len(rows), self.clusters)), dtype=np.float64)
            for rows in _batches(PERMUTATIONS, max(self.clusters, width))
        ]

    def share(self, extreme: Floats, drawn: int) -> Floats:
        """The p-value; the data themselves count as one of the draws, unless all were looked at."""
        return extreme / drawn if 2**self.clusters <= PERMUTATIONS else (extreme + 1) / (drawn + 1)

    def quantiles(self, base: Floats, new: Floats, wanted: Sequence[float]) -> list[Finding | None]:
        """One finding per wanted quantile; `base` and `new` count values (clusters x BINS), see `binned`."""
        sides = [side.sum(axis=0) for side in (base, new)]
        if not all(side.sum() for side in sides):
            return [None for _ in wanted]
        points = [[quantile_of(side[None, :], each)[0] for each in wanted] for side in sides]
        replicates: list[list[Floats]] = [[] for _ in wanted]
        extreme = np.zeros(len(wanted))
        p: Floats = np.full(len(wanted), np.nan)
        if self.clusters > 1:
            random = np.random.default_rng([3, self._seed])
            for rows in _batches(BOOTSTRAPS, max(self.clusters, BINS)):
                times = random.multinomial(self.clusters, np.full(self.clusters, 1 / self.clusters), size=len(rows))
                drawn = [times.astype(np.float64) @ side for side in (base, new)]
                for number, each in enumerate(wanted):
                    replicates[number].append(quantile_of(drawn[1], each) - quantile_of(drawn[0], each))
            both, swing, count = base + new, new - base, 0
            for signs in self.signs(BINS):
                swung = signs @ swing
                for number, each in enumerate(wanted):
                    upper, lower = (quantile_of((both.sum(axis=0) + side) / 2, each) for side in (swung, -swung))
                    observed = abs(points[1][number] - points[0][number])
                    extreme[number] += (np.abs(upper - lower) >= observed - 1e-12).sum()
                count += len(signs)
            p = self.share(extreme, count)
        return [
            _finding(
                float(points[0][number]),
                float(points[1][number]),
                np.concatenate(replicates[number]) if replicates[number] else np.empty(0),
                float(p[number]),
                self.clusters,
            )
            for number in range(len(wanted))
        ]


def _finding(base: float, new: float, replicates: Floats, p: float, clusters: int) -> Finding:
    if len(replicates) < 2:
        return Finding(base, new, new - base)
    tail = (1 - LEVEL) / 2
    low, high = np.quantile(replicates, [tail, 1 - tail])
    error = float(replicates.std(ddof=1)) if clusters >= FEW else None
    return Finding(base, new, new - base, float(low), float(high), p, error)


def _batches(rows: int, width: int) -> list[range]:
    size = max(_CELLS // max(width, 1), 1)
    return [range(begin, min(begin + size, rows)) for begin in range(0, rows, size)]


# ----------------------------------------------------------------------------------------------------------- latencies


def binned(values: Floats) -> Floats:
    """How many of the values (ms) are in each bin."""
    places = np.log(np.clip(values, _SMALLEST, LONGEST) / _SMALLEST) / np.log(_RATIO)
    return np.bincount(places.astype(np.intp), minlength=BINS)[:BINS].astype(np.float64)


def quantile_of(counts: Floats, quantile: float) -> Floats:
    """The nearest-rank quantile of each row of counts: the middle of its bin, in ms."""
    cumulative = np.cumsum(counts, axis=1)
    rank = np.maximum(np.ceil(quantile * cumulative[:, -1:] - 1e-9), 1)
    place = np.argmax(cumulative >= rank - 1e-9, axis=1)
    return np.asarray(_SMALLEST * _RATIO ** (place + 0.5))


# ------------------------------------------------------------------------------------------------------------ decisions


def mcnemar(wins: int, losses: int) -> float:
    """The exact two-sided p-value that as uneven a split of the sessions that changed is chance (McNemar 1947)."""
    n, k = wins + losses, np.arange(1, min(wins, losses) + 1)
    # Logarithms of the binomial coefficients, of which the last ones alone matter where there are many.
    logs = np.concatenate([[0.0], np.cumsum(np.log((n - k + 1) / k))]) - n * np.log(2)
    return min(1.0, 2 * float(np.exp(logs).sum()))


def holm(p: Sequence[float | None]) -> list[float | None]:
    """Adjusted so that all of them together are wrong at most as often as each alone would be."""
    order = sorted((value, place) for place, value in enumerate(p) if value is not None)
    adjusted: list[float | None] = [None] * len(p)
    most = 0.0
    for passed, (value, place) in enumerate(order):
        most = max(most, min(1.0, (len(order) - passed) * value))
        adjusted[place] = most
    return adjusted


def benjamini_hochberg(p: Sequence[float | None]) -> list[float | None]:
    """Adjusted so that of those that are called different, the expected share of errors is bounded."""
    order = sorted((value, place) for place, value in enumerate(p) if value is not None)
    adjusted: list[float | None] = [None] * len(p)
    least = 1.0
    for place_in_order in range(len(order), 0, -1):
        value, place = order[place_in_order - 1]
        least = min(least, value * len(order) / place_in_order)
        adjusted[place] = least
    return adjusted


def verdict(
    found: Finding | None, p: float | None, *, better: str, floor: float, margin: float, level: float = 1 - LEVEL
) -> Verdict:
    """What may be said; `floor`: smaller differences are never called one, `margin`: see Verdict.EQUIVALENT."""
    if found is None or found.low is None or found.high is None or p is None or better == "neither":
        return Verdict.NOT_COMPARABLE
    shown = p < level and (found.low > 0 or found.high < 0)
    if shown and abs(found.difference) >= floor:
        return Verdict.BETTER if (found.difference > 0) == (better == "higher") else Verdict.WORSE
    if -margin < found.low and found.high < margin:
        return Verdict.EQUIVALENT
    return Verdict.NOT_SHOWN
