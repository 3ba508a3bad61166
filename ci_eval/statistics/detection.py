"""How many sessions a comparison takes to find a difference of a given size with a given power.

That depends on how far sessions differ between the two engines, which a pilot tells. Only the size of these differences
is looked at, never their direction: they are squared about 0, not about their mean, so that to swap base and new in any
session changes nothing. Whoever decides by that alone when to stop does not favour either verdict, and the level is
kept (internal pilot: Wittes & Brittain 1990; blinded: Gould & Shih 1992; Friede & Kieser 2006).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ci_eval.statistics.paired import LEVEL
from ci_eval.statistics.student import NORMAL, Floats, errors_at

FIRST = 200
"""Sessions of the pilot."""
STEPS = 400
"""Sizes that are looked at between the sessions asked so far and all; the next one is at most some percent too
large."""
LEAST = 1.1
"""A further phase asks at least so many times as many sessions as were asked before it, since each starts its engines
anew."""


@dataclass(frozen=True, kw_only=True)
class Pilot:
    """What the sessions asked so far tell of the uncertainty of one difference."""

    sessions: int
    """All that there are."""
    asked: int
    observed: float
    """The sessions asked in which the difference was observed; at most `asked`."""
    variance: float
    """Mean square of the difference in one session (`mean_square`)."""
    noise: float
    """The variance of the difference that comes from the engines' own noise; 0 = they have none, or none was
    measured."""
    df: float
    """Degrees of freedom of the noise."""
    errors: float
    """Standard errors that the interval reaches to each side, where there is no noise."""
    tests: int
    """How many intervals hold together (Bonferroni), where there is noise."""

    def detectable(self, asked: Floats, power: float) -> Floats:
        """The true differences that would be found with that power, had so many sessions been asked."""
        sampling = (1 - asked / self.sessions) * self.variance * self.asked / (asked * self.observed)
        noise = self.noise * self.asked / asked
        total = sampling + noise
        errors: Floats | float = self.errors
        if self.noise:
            errors = errors_at((1 - LEVEL) / self.tests, self.df * (total / noise) ** 2)
        return np.asarray((errors + NORMAL.inv_cdf(power)) * np.sqrt(total))

    def enough(self, wanted: float, power: float) -> int:
        """How many sessions, of those asked so far or more, find a difference of that size; all, if nothing less does.

        Since few rounds say little of noise, more sessions need not always find smaller differences: the fewest count.
        """
        sizes = np.unique(np.geomspace(self.asked, self.sessions, STEPS).round())
        fitting = sizes[self.detectable(sizes, power) <= wanted]
        return int(fitting[0]) if len(fitting) else self.sessions


def mean_square(squares: float, observed: float, most: float = 1.0) -> float:
    """Of differences, whose squares have that sum. Two of the largest possible ones are added, as the interval does
    (`sampled.here`): that no session of the pilot differed does not mean that none does."""
    return (squares + 2 * most**2) / (observed + 2)


def next_size(pilot: Pilot | None, asked: int, sessions: int, wanted: float, power: float) -> int:
    """How many sessions to have asked after the next phase; `asked`, where no other phase is needed.

    `pilot`: of what was asked so far; None where the difference was not observed yet.
    """
    if asked == 0:
        return min(FIRST, sessions)
    enough = pilot.enough(wanted, power) if pilot else 2 * asked
    return asked if enough <= asked else min(sessions, max(enough, int(LEAST * asked)))
