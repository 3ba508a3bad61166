"""Compare the times of two engines that were asked in turns.

In each round, both engines are fresh processes. They are asked about each file one right after the other, so whatever
slows the machine slows both. Rounds are the sample: the difference is the mean over rounds, with Student's t.
Times are compared by their logarithms: a machine that is half as fast in a round doubles both times and their
difference, but not their ratio. If only some sessions were asked, a sampling error is added, by a jackknife over
random groups of sessions with the finite population correction. The same groups show how much a mean varies within a
round.

Two processes of one program may differ by a few percent for as long as they run, just because of their memory layout
(Mytkowicz et al. 2009), so a difference counts only if its whole interval is beyond FLOOR.
"""

from __future__ import annotations

from array import array

import msgspec
import numpy as np

from ci_eval.core.contracts import Metric, Observation
from ci_eval.core.statistics.paired import LEVEL
from ci_eval.core.statistics.student import Floats, critical_values, tails

FOUR_OF_FIVE = 0.8416
GROUPS = 20
"""The number of random groups of sessions for the jackknife."""
BLOCKS = 5
"""The number of disjoint parts of the sessions, whose quantiles show how much a quantile varies within a round."""
FLOOR = 0.05
"""The smallest difference of times that counts, as a share of base's time."""
SHORTEST = 0.5
"""The smallest difference in milliseconds that counts."""
SMALLEST = 0.005
"""The smallest difference that counts if a metric is a share, such as the share of sessions answered in time."""


class Observed(msgspec.Struct):
    above: array[float] = msgspec.field(default_factory=lambda: array("d"))
    below: array[float] = msgspec.field(default_factory=lambda: array("d"))
    """The denominators; `above` has the numerators."""
    groups: array[int] = msgspec.field(default_factory=lambda: array("b"))
    """The group (0 … GROUPS - 1) of each observation."""

    def add(self, group: int, seen: list[Observation]) -> None:
        for above, below in seen:
            self.above.append(above)
            self.below.append(below)
            self.groups.append(group)

    def figures(self, metric: Metric) -> Floats:
        """Return the figure of all groups, then the figures without one group each; NaN if nothing is left."""
        above, below, groups = np.array(self.above), np.array(self.below), np.array(self.groups, dtype=np.int64)
        if metric.statistic == "quantile":
            kept = [above, *(above[groups != group] for group in range(GROUPS))]
            return np.array([nearest_rank(part, metric.quantile) for part in kept])
        sums = [np.bincount(groups, weights=column, minlength=GROUPS) for column in (above, below)]
        with np.errstate(invalid="ignore", divide="ignore"):
            numerators, denominators = (np.array([by_group.sum(), *(by_group.sum() - by_group)]) for by_group in sums)
            return np.asarray(numerators / denominators)

    def quantiles(self, quantile: float) -> Floats:
        """Return the quantile in each of the BLOCKS. A block without an observation has NaN."""
        above, blocks = np.array(self.above), np.array(self.groups, dtype=np.int64) % BLOCKS
        return np.array([nearest_rank(above[blocks == block], quantile) for block in range(BLOCKS)])


def nearest_rank(values: Floats, quantile: float, stands_for: Floats | None = None) -> float:
    """Return the ceil(q·n)-th smallest value; NaN without values. `stands_for`: how often each counts (None: once)."""
    if not len(values):
        return float("nan")
    # Rounding must not raise the rank by one, for example if 0.07 · 100 is 7.000000000000001.
    if stands_for is None:
        index = max(int(np.ceil(quantile * len(values) - 1e-9)), 1) - 1
        return float(np.partition(values, index)[index])
    order = np.argsort(values)
    below = np.cumsum(stands_for[order])
    return float(values[order[np.searchsorted(below, quantile * below[-1] * (1 - 1e-12) - 1e-9)]])


class Timed(msgspec.Struct, frozen=True):
    """A difference (new - base) of means over rounds, with its 95 % interval."""

    base: float
    new: float
    low: float
    high: float
    p: float
    detectable: float
    n: int

    @property
    def difference(self) -> float:
        return self.new - self.base

    def floor(self, unit: str) -> float:
        """Return the smallest difference that counts. Sides that are shown to differ by less are equivalent."""
        return max(SHORTEST, FLOOR * self.base) if unit == "ms" else SMALLEST


def compare_timing(
    metric: Metric, base: list[Observed], new: list[Observed], *, asked: float, tests: int
) -> Timed | None:
    """Return a metric's difference between two engines; None if an engine has no figure. `base`, `new`: one element per
    round. `asked`: the asked share of sessions. `tests`: the number of metrics judged together (Bonferroni)."""
    ours, theirs = (np.array([observed.figures(metric) for observed in side]) for side in (base, new))
    sides = (base, new) if metric.statistic == "quantile" else ()
    blocks = [np.array([observed.quantiles(metric.quantile) for observed in side]) for side in sides]
    # A clock may show 0 ms, which has no logarithm.
    by_ratio = metric.info.unit == "ms" and not any(np.any(figures <= 0) for figures in (ours, theirs, *blocks))
    if by_ratio:
        ours, theirs, *blocks = (np.log(figures) for figures in (ours, theirs, *blocks))
    differences = theirs - ours
    if not np.all(np.isfinite(differences[:, 0])):
        return None
    rounds, center = len(base), differences[:, 0].mean()
    # If nothing is left without a group, the figure is NaN, and the group adds no deviation.
    deviations = np.nan_to_num(differences[:, 1:] - differences[:, :1])
    shared = deviations.mean(axis=0)
    # This is the jackknife's factor (n - 1) / n for n groups.
    scale = (GROUPS - 1) / GROUPS
    of_rounds = float(differences[:, 0].var(ddof=1)) / rounds
    # Three rounds may agree by luck, so the error is at least the one expected from the variation within rounds.
    if blocks:
        # Blocks are disjoint, since a quantile jumps if one group is omitted. An empty block has NaN.
        within = np.var(blocks[1] - blocks[0], axis=1, ddof=1).mean() / BLOCKS / rounds
        of_rounds = max(of_rounds, float(np.nan_to_num(within)))
    else:
        of_rounds = max(of_rounds, scale * float(((deviations - shared) ** 2).sum()) / (rounds - 1) / rounds)
    of_sessions = (1 - asked) * scale * float((shared**2).sum())
    n = min(len(observed.above) for observed in (*base, *new))
    if metric.info.unit == "share":
        # Sessions outside the sample may have changed: add one that gained and one that lost (Bonett & Price 2012).
        of_sessions += (1 - asked) * 2 / n**2
    error = float(np.sqrt(of_rounds + of_sessions))
    # The degrees of freedom of a sum of two variances (Welch 1947, Satterthwaite 1946).
    weights = of_rounds**2 / (rounds - 1) + of_sessions**2 / (GROUPS - 1)
    df = (of_rounds + of_sessions) ** 2 / weights if weights else np.inf
    reach = float(critical_values((1 - LEVEL) / tests, df)) * error
    base_mean = float(ours[:, 0].mean())
    bounds = [center, center - reach, center + reach, reach + FOUR_OF_FIVE * error]
    if by_ratio:
        base_mean = float(np.exp(base_mean))
        # A difference of logarithms is a ratio. Multiplied by base's time, it is in milliseconds again.
        bounds = [base_mean * float(np.expm1(bound)) for bound in bounds]
    difference, low, high, detectable = map(float, bounds)
    return Timed(
        base=base_mean,
        new=base_mean + difference,
        low=low,
        high=high,
        p=min(1.0, float(tails(abs(center) / error, df)) * tests) if error else float(center == 0),
        detectable=detectable,
        n=n,
    )


BINS = 1_000
LONGEST = 1e6
"""The upper bound of the last bin (ms). The first begins at 0.01 ms; each bound is 2 % above the one before."""

_RATIO = 1.02
_SMALLEST = 0.01


def bin_latencies(values: Floats) -> Floats:
    """Count the values (ms) in each of the BINS. The first bin also has shorter times, the last bin longer times."""
    indices = np.log(np.clip(values, _SMALLEST, LONGEST) / _SMALLEST) / np.log(_RATIO)
    return np.bincount(indices.astype(np.intp), minlength=BINS)[:BINS].astype(np.float64)


def estimate_quantile(counts: Floats, quantile: float) -> float | None:
    """Return the nearest-rank quantile (ms), as the middle of its bin; None if nothing was counted."""
    if not counts.any():
        return None
    middle = nearest_rank(np.arange(BINS, dtype=np.float64), quantile, counts) + 0.5
    return float(_SMALLEST * _RATIO**middle)
