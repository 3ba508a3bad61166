"""The choice of sessions to ask, so that few of them tell a project's figure precisely.

The sessions of a project are a finite population. They are asked in phases. Before each phase, the results so far tell
how likely each of the other sessions is to be right (`expected.py`), from what is known of its token and, if there was
an earlier run, from its result there. The other sessions are ordered by that chance and cut into strata. From each
stratum, sessions are sampled in proportion to its size and its expected standard deviation (Neyman 1934).

The sessions asked before a phase are known, and the strata of the phase stand for the others: given what was asked
before, that is an estimate without bias, however the results so far were used. The estimates of several phases are not
correlated, since each is right in the mean whatever the ones before it are. They are averaged by the inverse of their
variances. These are the variances expected from all results together: if a phase happens to have few misses, its own
variance would favour it. (To keep sampling from the strata of the first phase would be simpler, but is biased: if the
first few sessions of a stratum happen to be all right, no more of it is asked.)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from ci_eval.core.base.chance import draw
from ci_eval.core.model.sampling import Sampling, Stratum
from ci_eval.core.statistics.expected import Floats, Places, predict_values
from ci_eval.core.statistics.weighted import ERRORS, figure, moments, share_interval

FIRST = 200
"""The number of sessions of the first phase, at most. Nothing is known of them except, if there was one, their result
in an earlier run."""
TRUSTED = 0.9
"""The trust in an earlier run until it is known how well it predicts this one: a session that was right there is right
here with a chance of one half and half of this."""
GROWTH = 0.7
"""The sessions of a phase, at most, as a multiple of those asked before it: the next phase knows more."""
LEAST = 48
"""The number of sessions of a phase, at least: each phase starts the engine again."""
STRATA = 8
"""The number of strata of a phase, at most."""
FEWEST = 12
"""The number of sessions that are sampled from a stratum, at least."""


@dataclass(frozen=True)
class Frame:
    """The frame of a sample: all sessions of a project under a strategy."""

    ids: Sequence[str]
    features: Sequence[Places]
    """The features, the most distinguishing first: of each, the number of the value that each session has."""
    before: Floats | None = None
    """The result of each session in an earlier run (0 to 1), a half if it is not known; None if there was no earlier
    run."""

    @property
    def beforehand(self) -> Floats:
        """The expected result of each session before any was asked: as in the earlier run, but less surely."""
        if self.before is None:
            return np.full(len(self.ids), 0.5)
        # If the trust were 1, no session would have a variance, and no stratum a share of the sample.
        return np.asarray((1 - TRUSTED) / 2 + TRUSTED * self.before)


@dataclass(frozen=True)
class Phase:
    """The sessions that are asked next."""

    number: int
    strata: Sequence[Places]
    """The indices of the sessions in each stratum; none of them was asked before."""
    drawn: Sequence[Places]
    """The indices of the sessions that are sampled from each stratum."""

    def variance(self, chances: Floats) -> float:
        """Return the variance of the phase's estimate of a total, if sessions go right with these chances."""
        total = 0.0
        for places, sample in zip(self.strata, self.drawn, strict=True):
            mean = float(chances[places].mean())
            total += len(places) * (len(places) / len(sample) - 1) * mean * (1 - mean)
        return total


class Estimated(NamedTuple):
    """A figure and its 95 % interval."""

    value: float
    low: float
    high: float


@dataclass
class Sampler:
    """A sampler of the sessions of one run, phase by phase. It chooses the same sessions for the same results."""

    frame: Frame
    metric: str
    precision: float
    seed: int
    phases: list[Phase] = field(default_factory=list)
    _moments: list[Floats] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._above, self._below = np.zeros(len(self.frame.ids)), np.zeros(len(self.frame.ids))
        self._stratum = np.zeros(len(self.frame.ids), dtype=np.int64)
        self._expected = self.frame.beforehand

    @property
    def asked(self) -> Places:
        """The indices of the sessions that were asked."""
        return np.flatnonzero(self._stratum)

    def strata(self) -> dict[str, int]:
        """Return the number of the stratum, from 1, of each session that was asked."""
        return {self.frame.ids[place]: int(self._stratum[place]) for place in self.asked.tolist()}

    @property
    def is_precise(self) -> bool:
        """Return whether the interval is narrow enough, or all sessions are asked."""
        return bool(self.phases) and (len(self.asked) == len(self.frame.ids) or self.reach() <= self.precision)

    def figure(self) -> Estimated | None:
        """Return the metric's figure with its 95 % interval, or None if no session observed it."""
        value, reach = figure(np.stack(self._moments), self.sampling)
        return None if value is None else Estimated(value, *share_interval(value, reach))

    def reach(self) -> float:
        """Return the longer of the two distances from the metric's figure to the ends of its interval; infinite without
        a figure."""
        estimate = self.figure()
        return max(estimate.value - estimate.low, estimate.high - estimate.value) if estimate else np.inf

    @property
    def sampling(self) -> Sampling:
        """The description of the sample so far."""
        # A phase that asked all of its sessions has the variance 0, which has no inverse.
        inverse = 1 / np.maximum([phase.variance(self._expected) for phase in self.phases], 1e-12)
        shares = inverse / inverse.sum()
        # A session counts as itself in the estimates of later phases, which know it already.
        later = np.clip(1 - np.cumsum(shares), 0, 1)
        strata = [
            Stratum(
                phase=phase.number,
                sessions=len(places),
                asked=len(drawn),
                share=float(shares[phase.number]),
                later=float(later[phase.number]),
            )
            for phase in self.phases
            for places, drawn in zip(phase.strata, phase.drawn, strict=True)
        ]
        expecting = self.frame.before is not None
        return Sampling(metric=self.metric, precision=self.precision, expecting=expecting, strata=tuple(strata))

    def take(self, phase: Phase, above: Floats, below: Floats) -> None:
        """Record what the metric observed in the sessions of that phase, one stratum after the other: numerators and
        denominators, both 0 if it observed nothing."""
        first = len(self._moments) + 1
        for number, places in enumerate(phase.drawn, first):
            count = len(places)
            self._above[places], self._below[places] = above[:count], below[:count]
            self._stratum[places] = number
            self._moments.append(moments(above[:count], below[:count]))
            above, below = above[count:], below[count:]
        self.phases.append(phase)
        asked = self.asked[self._below[self.asked] > 0]
        if len(asked):
            self._expected = predict_values(self.frame.features, asked, self._above[asked] / self._below[asked])

    def next_phase(self) -> Phase:
        """Return the phase with the sessions that are asked next."""
        number, left = len(self.phases), np.flatnonzero(self._stratum == 0)
        chances = self._expected[left]
        spread = np.sqrt(chances * (1 - chances))
        # Of equal ones, those that are alike stay together. What was right in an earlier run is never in one stratum
        # with what was wrong: it would not be known of such a stratum how it goes.
        earlier = self.frame.features[0][left] * (self.frame.before is not None)
        order = np.lexsort((*(feature[left] for feature in reversed(self.frame.features)), chances, earlier))
        reached, size = np.cumsum(spread[order]), self._size_of_next(spread)
        strata = min(STRATA, max(size // FEWEST, 1))
        ends = np.searchsorted(reached, reached[-1] * np.arange(1, strata) / strata)
        changes = np.flatnonzero(np.diff(earlier[order])) + 1
        parts = [part for part in np.split(order, np.union1d(ends, changes)) if len(part)]
        sizes, spreads = np.array([len(part) for part in parts]), np.array([spread[part].mean() for part in parts])
        counts = allocate(sizes, spreads, size)
        drawn = [left[self._draw(left, part, count, number)] for part, count in zip(parts, counts, strict=True)]
        return Phase(number, [left[part] for part in parts], drawn)

    def _size_of_next(self, spread: Floats) -> int:
        """Return how many sessions the next phase asks, about: as many as should do, if it does not grow too fast."""
        if not self.phases:
            return min(FIRST, len(spread))
        reached = (ERRORS / max(self.reach(), self.precision)) ** 2
        # Phases are not correlated, so their inverse variances add up to the one that is wanted.
        lacking = max((ERRORS / self.precision) ** 2 - reached, 1e-9) / len(self.frame.ids) ** 2
        # This is the sample size for a variance under Neyman's allocation (Cochran, Sampling Techniques, chapter 5).
        enough = spread.sum() ** 2 / (1 / lacking + (spread**2).sum())
        most = max(FIRST, GROWTH * len(self.asked))
        return int(min(max(enough, LEAST), most, len(spread)))

    def _draw(self, left: Places, part: Places, count: int, number: int) -> Places:
        numbers = [draw(self.seed, f"{number} {self.frame.ids[place]}") for place in left[part].tolist()]
        return np.asarray(part[np.sort(np.argsort(numbers, kind="stable")[:count])])


def allocate(sizes: Places, spreads: Floats, wanted: int) -> Places:
    """Return how many sessions are sampled from each stratum: about `wanted` in all, in proportion to size x spread,
    but at least FEWEST, and not more than there are."""
    least = np.minimum(FEWEST, sizes)
    low, high = 0.0, float(wanted + sizes.sum())
    shares = sizes * spreads / (sizes * spreads).sum()
    # Sixty halvings are more than the 53 bits of a float can tell apart.
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if np.clip(middle * shares, least, sizes).sum() < wanted else (low, middle)
    return np.asarray(np.rint(np.clip(high * shares, least, sizes)).astype(np.int64))
