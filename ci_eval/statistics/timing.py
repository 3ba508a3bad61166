"""Times of two engines that were asked in turns, and what may be concluded from their difference.

In each round both engines are fresh processes, asked about each file one right after the other, so that whatever slows
the machine slows both. Rounds are therefore the sample: the difference is the mean of the rounds' differences, with
Student's t. Times are compared by their logarithms: a round in which the machine is half as fast doubles both times and
their difference, but not their ratio. Where only some of the project's sessions were asked, their sampling error is
added, from a jackknife over random groups of sessions with the finite population's correction. The same groups tell how
much a mean varies within a round.

Two processes of one program may differ by some percent for as long as they run, just because of how their memory is
laid out (Mytkowicz et al. 2009): a difference counts only where its whole interval lies beyond FLOOR.
"""

from __future__ import annotations

from array import array
from dataclasses import dataclass, field

import numpy as np

from ci_eval.contracts import Metric, Observation
from ci_eval.statistics.student import Floats, errors_at, tails

LEVEL = 0.95
FOUR_OF_FIVE = 0.8416
"""Standard errors that a normal variable stays below four times out of five."""
GROUPS = 20
"""Random groups of sessions for the jackknife."""
BLOCKS = 5
"""Disjoint parts of the sessions, whose quantiles tell how much a quantile varies within a round."""
FLOOR = 0.05
"""Share of base's time: a smaller difference of times is never called one."""
SHORTEST = 0.5
"""Milliseconds: nor is a shorter one."""
SMALLEST = 0.005
"""The smallest difference that counts in metrics that are shares, such as that of sessions answered in time."""


@dataclass
class Observed:
    """What a metric observed of one engine in one round; one element per observation."""

    above: array[float] = field(default_factory=lambda: array("d"))
    """Numerators."""
    below: array[float] = field(default_factory=lambda: array("d"))
    """Denominators."""
    groups: array[int] = field(default_factory=lambda: array("b"))
    """The group (0 … GROUPS - 1) of the session each comes from."""

    def add(self, group: int, seen: list[Observation]) -> None:
        """Add the observations of one session of that group."""
        for above, below in seen:
            self.above.append(above)
            self.below.append(below)
            self.groups.append(group)

    def figures(self, metric: Metric) -> Floats:
        """The figure of all sessions, then those with one group left out, for each of the GROUPS; NaN where nothing is
        left."""
        above, below, groups = np.array(self.above), np.array(self.below), np.array(self.groups, dtype=np.int64)
        if metric.statistic == "quantile":
            kept = [above, *(above[groups != group] for group in range(GROUPS))]
            return np.array([nearest_rank(each, metric.quantile) for each in kept])
        sums = [np.bincount(groups, weights=each, minlength=GROUPS) for each in (above, below)]
        with np.errstate(invalid="ignore", divide="ignore"):
            numerators, denominators = (np.array([each.sum(), *(each.sum() - each)]) for each in sums)
            return np.asarray(numerators / denominators)

    def quantiles(self, quantile: float) -> Floats:
        """The quantile in each of the BLOCKS; NaN where one has no observation."""
        above, blocks = np.array(self.above), np.array(self.groups, dtype=np.int64) % BLOCKS
        return np.array([nearest_rank(above[blocks == block], quantile) for block in range(BLOCKS)])


def nearest_rank(values: Floats, quantile: float) -> float:
    """The ceil(quantile * n)-th smallest value; NaN where there is none."""
    if not len(values):
        return float("nan")
    place = max(int(np.ceil(quantile * len(values) - 1e-9)), 1) - 1
    return float(np.partition(values, place)[place])


@dataclass(frozen=True)
class Timed:
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
        """new - base."""
        return self.new - self.base

    def floor(self, unit: str) -> float:
        """The smallest difference that counts, in the metric's unit; one shown to be smaller is equivalent."""
        return max(SHORTEST, FLOOR * self.base) if unit == "ms" else SMALLEST


def timed(metric: Metric, base: list[Observed], new: list[Observed], *, asked: float, tests: int) -> Timed | None:
    """The difference of a metric between two engines; None where one of them has no figure.

    `base`, `new`: one entry per round. `asked`: the share of the project's sessions that was asked. `tests`: the number
    of metrics that are judged together (Bonferroni).
    """
    ours, theirs = (np.array([each.figures(metric) for each in side]) for side in (base, new))
    # A clock may show 0 ms, which has no logarithm.
    by_ratio = metric.info.unit == "ms" and not (np.any(ours <= 0) or np.any(theirs <= 0))
    if by_ratio:
        ours, theirs = np.log(ours), np.log(theirs)
    differences = theirs - ours
    if not np.all(np.isfinite(differences[:, 0])):
        return None
    rounds, center = len(base), differences[:, 0].mean()
    deviations = np.nan_to_num(differences[:, 1:] - differences[:, :1])
    shared = deviations.mean(axis=0)
    scale = (GROUPS - 1) / GROUPS
    of_rounds = float(differences[:, 0].var(ddof=1)) / rounds
    # Three rounds may agree by luck, so the error is never below what the variation within rounds makes it.
    if metric.statistic == "ratio":
        of_rounds = max(of_rounds, scale * float(((deviations - shared) ** 2).sum()) / (rounds - 1) / rounds)
    else:
        of_rounds = max(of_rounds, _of_quantiles(metric.quantile, base, new, by_ratio=by_ratio))
    of_sessions = (1 - asked) * scale * float((shared**2).sum())
    n = min(len(each.above) for each in (*base, *new))
    if metric.info.unit == "share":
        # Where no session of the sample changed, others may have: add one that gained and one that lost (after Bonett &
        # Price 2012).
        of_sessions += (1 - asked) * 2 / n**2
    error = float(np.sqrt(of_rounds + of_sessions))
    # The degrees of freedom of a sum of two variances (Welch 1947, Satterthwaite 1946).
    weights = of_rounds**2 / (rounds - 1) + of_sessions**2 / (GROUPS - 1)
    df = (of_rounds + of_sessions) ** 2 / weights if weights else np.inf
    reach = float(errors_at((1 - LEVEL) / tests, df)) * error
    base_mean = float(ours[:, 0].mean())
    bounds = [center, center - reach, center + reach, reach + FOUR_OF_FIVE * error]
    if by_ratio:
        base_mean = float(np.exp(base_mean))
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


def _of_quantiles(quantile: float, base: list[Observed], new: list[Observed], *, by_ratio: bool) -> float:
    """The squared error of the mean difference of a quantile over rounds, as disjoint blocks of sessions show it.

    Leaving out groups would not do: a quantile jumps then. 0 where a block has no observation.
    """
    ours, theirs = (np.array([each.quantiles(quantile) for each in side]) for side in (base, new))
    if by_ratio:
        with np.errstate(divide="ignore", invalid="ignore"):
            ours, theirs = np.log(ours), np.log(theirs)
    within = np.var(theirs - ours, axis=1, ddof=1).mean() / BLOCKS / len(base)
    return float(np.nan_to_num(within))
