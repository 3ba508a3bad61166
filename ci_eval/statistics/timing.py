"""Times of two engines that were asked in turns, and what may be concluded from their difference.

A round is a run in small: both engines are fresh processes in it, and what slows the machine slows both, since they
were asked about each file one right after the other. So rounds are the sample that tells how far a difference of times
is chance: the mean of the rounds' differences, with Student's t. Where a project's sessions are themselves a sample,
that adds an error: a jackknife over random groups of sessions, with the finite population's correction. The same groups
tell how much a mean varies within rounds.

Two processes of one program may differ by some percent from start to end, as memory happens to be laid out (Mytkowicz
et al. 2009): a difference counts where its whole interval lies beyond FLOOR.
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
FLOOR = 0.05
"""Share of base's time."""
SHORTEST = 0.5
"""Milliseconds: less is never called a difference of times."""
SMALLEST = 0.005
"""The same of the share of sessions that are right in time."""


@dataclass
class Observed:
    """What a metric saw of one engine in one round."""

    above: array[float] = field(default_factory=lambda: array("d"))
    below: array[float] = field(default_factory=lambda: array("d"))
    groups: array[int] = field(default_factory=lambda: array("b"))

    def add(self, group: int, seen: list[Observation]) -> None:
        """Of one session, which is in that group."""
        for above, below in seen:
            self.above.append(above)
            self.below.append(below)
            self.groups.append(group)

    def figures(self, metric: Metric) -> Floats:
        """The figure, then those without one group after the other; NaN where nothing is left."""
        above, below, groups = np.array(self.above), np.array(self.below), np.array(self.groups, dtype=np.int64)
        if metric.statistic == "quantile":
            kept = [above, *(above[groups != group] for group in range(GROUPS))]
            return np.array([nearest_rank(each, metric.quantile) for each in kept])
        sums = [np.bincount(groups, weights=each, minlength=GROUPS) for each in (above, below)]
        with np.errstate(invalid="ignore", divide="ignore"):
            numerators, denominators = (np.array([each.sum(), *(each.sum() - each)]) for each in sums)
            return np.asarray(numerators / denominators)


def nearest_rank(values: Floats, quantile: float) -> float:
    """The ceil(quantile * n)-th smallest; NaN of nothing."""
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
        """What a difference must come to; what is shown to be smaller is equivalent."""
        return max(SHORTEST, FLOOR * self.base) if unit == "ms" else SMALLEST


def timed(metric: Metric, base: list[Observed], new: list[Observed], *, asked: float, tests: int) -> Timed | None:
    """The difference, of one entry per round on each side; None where one of them has no figure.

    `asked`: the share of the project's sessions that was asked. `tests`: as one of so many that are looked at.
    """
    ours, theirs = (np.array([each.figures(metric) for each in side]) for side in (base, new))
    differences = theirs - ours
    if not np.all(np.isfinite(differences[:, 0])):
        return None
    rounds, center = len(base), differences[:, 0].mean()
    deviations = np.nan_to_num(differences[:, 1:] - differences[:, :1])
    shared = deviations.mean(axis=0)
    scale = (GROUPS - 1) / GROUPS
    of_rounds = float(differences[:, 0].var(ddof=1)) / rounds
    if metric.statistic == "ratio":
        # Three rounds may agree by luck: their mean is no surer than what varies within them lets it be. Quantiles of a
        # few sessions less jump, so that the same would say far too much of them.
        of_rounds = max(of_rounds, scale * float(((deviations - shared) ** 2).sum()) / (rounds - 1) / rounds)
    of_sessions = (1 - asked) * scale * float((shared**2).sum())
    n = min(len(each.above) for each in (*base, *new))
    if metric.info.unit == "share":
        # Where no session of the sample changed, others might have: one that gained and one that lost are added (after
        # Bonett & Price 2012).
        of_sessions += (1 - asked) * 2 / n**2
    error = float(np.sqrt(of_rounds + of_sessions))
    # The degrees of freedom of a sum of two (Welch 1947, Satterthwaite 1946).
    weights = of_rounds**2 / (rounds - 1) + of_sessions**2 / (GROUPS - 1)
    df = (of_rounds + of_sessions) ** 2 / weights if weights else np.inf
    reach = float(errors_at((1 - LEVEL) / tests, df)) * error
    return Timed(
        base=float(ours[:, 0].mean()),
        new=float(theirs[:, 0].mean()),
        low=float(center) - reach,
        high=float(center) + reach,
        p=min(1.0, float(tails(abs(center) / error, df)) * tests) if error else float(center == 0),
        detectable=reach + FOUR_OF_FIVE * error,
        n=n,
    )
