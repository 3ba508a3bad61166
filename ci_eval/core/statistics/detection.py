"""Compute how many sessions a comparison needs to find a given difference with a given power, and how many a figure
needs for a given precision.

The number for a comparison depends on how much sessions differ between the two engines, which a pilot estimates. The
pilot uses the size of these differences, never their direction: they are squared about 0, not about their mean, so
swapping base and new in any session changes nothing. A stopping rule that uses only the size favours neither verdict,
and the level holds (internal pilot: Wittes & Brittain 1990; blinded: Gould & Shih 1992; Friede & Kieser 2006).
"""

from __future__ import annotations

from bisect import bisect_left
from math import pi, sqrt

import msgspec
import numpy as np

from ci_eval.core.model import Determinism
from ci_eval.core.statistics.paired import LEVEL, Limits
from ci_eval.core.statistics.repeated import SecondQuestions
from ci_eval.core.statistics.sampled import figure
from ci_eval.core.statistics.student import NORMAL, Floats, critical_values

FIRST = 200
POINT = 0.01
MOST_NEEDED = 10**8
"""No comparison of more sessions is planned."""
ENOUGH_CHANGES = 10.3
"""If this many changed sessions are expected, eight or more change with a probability of 80 % (Poisson)."""
STEPS = 400
"""The number of sample sizes that are tried. The chosen size may be a few percent too large."""
LEAST = 1.1
"""A phase enlarges the sample by at least this factor, since each phase starts the engines again."""


class Pilot(msgspec.Struct, frozen=True, kw_only=True):
    sessions: int
    asked: int
    observed: float
    """The number of sessions in which the difference was observed; at most `asked`."""
    variance: float
    """The mean square of the difference in one session (`mean_square`)."""
    noise: float
    """The variance due to the engines' own noise; if engines were asked once, the variance between files."""
    df: float
    widen: float = 0.0
    """See `Spread.widen`."""
    changes: float | None = None
    """The number of changed sessions if engines were asked once, else None."""

    def detectable(self, asked: Floats, power: float) -> Floats:
        times = self.asked / asked
        sampling = (1 - asked / self.sessions) * self.variance * times / self.observed
        noise, df = self.noise * times, np.full(len(asked), self.df)
        if self.changes is None:
            total = sampling + noise
            df = self.df * (total / noise) ** 2 if self.noise else np.full(len(asked), np.inf)
        else:
            # The larger variance counts. As `noise` is an estimate, the maximum is on average above both variances.
            total = np.maximum(sampling, noise) * (1 + sqrt(1 / (pi * self.df)))
        errors = critical_values(1 - LEVEL, df) + NORMAL.inv_cdf(power)
        found = errors * np.sqrt(total) + self.widen * times
        return np.where((np.inf if self.changes is None else self.changes) >= ENOUGH_CHANGES * times, found, np.inf)

    def enough(self, wanted: float, power: float, least: int | None = None) -> int:
        """Return the smallest number of sessions that finds the difference `wanted`; all sessions if no smaller number
        does. `least`: the smallest number that is tried; if None, it is `asked`."""
        sizes = np.unique(np.geomspace(least or self.asked, self.sessions, STEPS).round())
        fits = bisect_left(range(len(sizes)), True, key=lambda at: self.detectable(sizes[[at]], power)[0] <= wanted)
        return int(sizes[min(fits, len(sizes) - 1)])


def mean_square(squares: float, observed: float, most: float = 1.0) -> float:
    """Return the mean square with two differences of the largest possible size added, as in `sampled.estimate_project`:
    a pilot in which no session differs does not prove that no session does."""
    return (squares + 2 * most**2) / (observed + 2)


def next_size(pilot: Pilot | None, asked: int, sessions: int, wanted: float, power: float) -> int:
    """Return the number of sessions asked by the end of the next phase; `asked` if these suffice."""
    if asked == 0:
        return min(FIRST, sessions)
    # The pilot is None if nothing was observed, so the variance is not known: the sample doubles.
    enough = pilot.enough(wanted, power) if pilot else 2 * asked
    return asked if enough <= asked else min(sessions, max(enough, int(LEAST * asked)))


def reach(rows: Floats, asked: int, sessions: int, limits: Limits, again: Determinism) -> float:
    """Return the distance from a ratio to the farther end of its interval. `rows`: numerators and denominators."""
    total, observed = rows.sum(axis=0), int((rows[:, 1] != 0).sum())
    if not observed:
        return np.inf
    # A sample does not show which answers vary together, so all sessions count as one file.
    noise = SecondQuestions(again, again).bound(rows[:, 1], 1.0) if again.differed else None
    low, high = figure(total, rows.T @ rows, observed, asked / sessions, limits, noise)
    value = float(total[0] / total[1])
    return np.inf if low is None or high is None else max(value - low, high - value)


def next_size_of_figure(reached: float, asked: int, sessions: int, wanted: float) -> int:
    """Return the number of sessions asked by the end of the next phase. `reached`, `wanted`: half widths."""
    if asked == 0:
        return min(FIRST, sessions)
    if asked == sessions or reached <= wanted:
        return asked
    if np.isinf(reached):
        return min(sessions, 2 * asked)
    # The square of the half width is proportional to 1/n - 1/N, for n of N sessions.
    enough = 1 / ((wanted / reached) ** 2 * (1 / asked - 1 / sessions) + 1 / sessions)
    return min(sessions, max(int(np.ceil(enough)), int(LEAST * asked)))
