"""Figures and their uncertainty: cluster bootstrap over files, since sessions of one file are not independent."""

from __future__ import annotations

from array import array
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ci_eval.contracts import Metric, Observation
from ci_eval.model import Estimate

REPLICATES = 2000
LEVEL = 0.95

Floats = NDArray[np.float64]


class Observations:
    """What a metric observed: observations with the number of the file each comes from."""

    def __init__(self) -> None:
        self._files = array("q")
        self._values = array("d")
        self._weights = array("d")

    def add(self, file: int, seen: Sequence[Observation]) -> None:
        """Of one session."""
        for value, weight in seen:
            self._files.append(file)
            self._values.append(value)
            self._weights.append(weight)

    def arrays(self) -> tuple[NDArray[np.int64], Floats, Floats]:
        """Files, values (numerators), weights (denominators); one element per observation."""
        return (
            np.array(self._files, dtype=np.int64),
            np.array(self._values, dtype=np.float64),
            np.array(self._weights, dtype=np.float64),
        )


def figure(metric: Metric, observations: Observations) -> float | None:
    """The metric's figure alone."""
    _, values, weights = observations.arrays()
    return _figure(metric, values, weights)


def estimate(metric: Metric, observations: Observations, seed: int) -> Estimate:
    """The metric's figure with its 95 % interval: percentiles of 2,000 resamples of the files, seeded.

    There is no interval for counts, for maxima, and where all observations come from one file.
    """
    files, values, weights = observations.arrays()
    value = _figure(metric, values, weights)
    clusters, members = np.unique(files, return_inverse=True)
    maximum = metric.statistic == "quantile" and metric.quantile == 1
    if value is None or metric.statistic == "count" or maximum or len(clusters) < 2:
        return Estimate(value=value, n=len(values))
    # The same draws for every metric: figures that are equal have equal intervals.
    random = np.random.default_rng([7, seed % 2**63])
    resample = _ratios if metric.statistic == "ratio" else _quantiles
    replicates = resample(metric, members, values, weights, random, len(clusters))
    tail = (1 - LEVEL) / 2
    low, high = np.quantile(replicates[~np.isnan(replicates)], [tail, 1 - tail])
    return Estimate(value=value, low=float(low), high=float(high), n=len(values))


def _figure(metric: Metric, values: Floats, weights: Floats) -> float | None:
    if metric.statistic == "count":
        return float(values.sum())
    if not len(values) or (metric.statistic == "ratio" and not weights.sum()):
        return metric.without
    if metric.statistic == "ratio":
        return float(values.sum() / weights.sum())
    return float(nearest_rank(values, metric.quantile))


def nearest_rank(values: Floats, quantile: float) -> float:
    """The smallest value that at least that share of the values does not exceed: the ceil(q·n)-th."""
    rank = max(int(np.ceil(quantile * len(values) - 1e-9)), 1)
    return float(np.partition(values, rank - 1)[rank - 1])


def _ratios(
    _: Metric, members: NDArray[np.intp], values: Floats, weights: Floats, random: np.random.Generator, clusters: int
) -> Floats:
    above = np.bincount(members, values, clusters)
    below = np.bincount(members, weights, clusters)
    out = np.empty(REPLICATES)
    for rows in _batches(clusters):
        drawn = random.integers(clusters, size=(len(rows), clusters))
        with np.errstate(invalid="ignore"):
            out[rows] = above[drawn].sum(axis=1) / below[drawn].sum(axis=1)
    return out


def _quantiles(
    metric: Metric, members: NDArray[np.intp], values: Floats, _: Floats, random: np.random.Generator, clusters: int
) -> Floats:
    order = np.argsort(values, kind="stable")
    ordered, owners = values[order], members[order]
    out = np.empty(REPLICATES)
    for rows in _batches(max(len(values), clusters)):
        for row in rows:
            times = np.bincount(random.integers(clusters, size=clusters), minlength=clusters)
            cumulative = np.cumsum(times[owners])
            rank = np.ceil(metric.quantile * cumulative[-1] - 1e-9)
            out[row] = ordered[min(np.searchsorted(cumulative, max(rank, 1)), len(ordered) - 1)]
    return out


def _batches(width: int) -> list[range]:
    """The replicates, so many at a time that a batch of that width stays small in memory."""
    size = max(2_000_000 // max(width, 1), 1)
    return [range(begin, min(begin + size, REPLICATES)) for begin in range(0, REPLICATES, size)]
