"""The figures of a report with their 95 % intervals: for this project, and for other code like it."""

from __future__ import annotations

from array import array
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ci_eval.contracts import Metric, Observation
from ci_eval.model import Estimate
from ci_eval.statistics.clustered import figures
from ci_eval.statistics.sampled import NoiseVariance, effective_sessions
from ci_eval.statistics.sampled import figure as sampled_figure
from ci_eval.statistics.wavering import Wavering

Floats = NDArray[np.float64]


class Observations:
    """What a metric observed in all sessions, each observation with the number of its file."""

    def __init__(self) -> None:
        self._files = array("q")
        self._values = array("d")
        self._weights = array("d")

    def add(self, file: int, seen: Sequence[Observation]) -> None:
        """Add the observations of one session of that file."""
        for value, weight in seen:
            self._files.append(file)
            self._values.append(value)
            self._weights.append(weight)

    def arrays(self) -> tuple[NDArray[np.int64], Floats, Floats]:
        """Numbers of files, values (numerators) and weights (denominators); one element per observation."""
        return (
            np.array(self._files, dtype=np.int64),
            np.array(self._values, dtype=np.float64),
            np.array(self._weights, dtype=np.float64),
        )


def figure(metric: Metric, observations: Observations) -> float | None:
    """The metric's figure, without intervals; None where there is none."""
    _, values, weights = observations.arrays()
    return _figure(metric, values, weights)


def estimate(metric: Metric, observations: Observations, asked: float, wavering: Wavering | None = None) -> Estimate:
    """The metric's figure with its 95 % intervals: for this project (`sampled.figure`), and for other code like it
    (`clustered.figures`).

    `asked`: the share of the project's sessions that was asked. `wavering`: the engine's noise in this metric, where
    there were several rounds. Counts and quantiles have no intervals, and times have none either: a busy machine slows
    all sessions together, which no sample of sessions would show.
    """
    files, values, weights = observations.arrays()
    value, unit = _figure(metric, values, weights), metric.info.unit
    if value is None or metric.statistic != "ratio" or metric.timed or unit == "ms" or not weights.sum():
        return Estimate(value=value, n=len(values))
    _, members = np.unique(files, return_inverse=True)
    rows: Floats = np.stack([np.bincount(members, each).astype(np.float64) for each in (values, weights)], axis=-1)
    (elsewhere,) = figures(rows[:, None, :], [unit])
    seen = np.stack([values, weights], axis=1)
    total = seen.sum(axis=0)
    noise = _noise(wavering, total) if wavering else None
    worth = effective_sessions(values, weights)
    low, high = sampled_figure(total, seen.T @ seen, float((weights != 0).sum()), asked, unit, noise, worth)
    return Estimate(value=value, low=low, high=high, n=len(values), elsewhere=elsewhere)


def _noise(wavering: Wavering, total: Floats) -> NoiseVariance:
    variance = wavering.variance(np.array([[1 / total[1], -total[0] / total[1] ** 2]]))
    return NoiseVariance.of([variance], [wavering.rounds])


def _figure(metric: Metric, values: Floats, weights: Floats) -> float | None:
    if not len(values) or (metric.statistic == "ratio" and not weights.sum()):
        return metric.without
    if metric.statistic == "count":
        return float(values.sum())
    if metric.statistic == "ratio":
        return float(values.sum() / weights.sum())
    if metric.statistic == "auc":
        return area(values, weights > 0)
    return float(nearest_rank(values, metric.quantile))


def area(scores: Floats, right: NDArray[np.bool_]) -> float | None:
    """The area under the ROC curve: how often something right has a higher score than something wrong, equal scores
    counting half (Mann and Whitney's U / number of pairs). None where there is only one of both.
    """
    pairs = int(right.sum()) * int((~right).sum())
    if not pairs:
        return None
    _, place, counts = np.unique(scores, return_inverse=True, return_counts=True)
    ranks = (np.cumsum(counts) - (counts - 1) / 2)[place]
    wins = float(ranks[right].sum()) - right.sum() * (right.sum() + 1) / 2
    return float(wins / pairs)


def nearest_rank(values: Floats, quantile: float) -> float:
    """The smallest value that at least that share of the values does not exceed: the ceil(q·n)-th smallest."""
    rank = max(int(np.ceil(quantile * len(values) - 1e-9)), 1)
    return float(np.partition(values, rank - 1)[rank - 1])
