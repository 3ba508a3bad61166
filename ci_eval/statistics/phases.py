"""Which sessions to ask, so that few of them tell a project's figure precisely.

The sessions of a project are a finite population. They are asked in phases. Before each phase, the answers so far tell
how likely each of the other sessions is to be right (`expected.py`), by what is known of its token and, if there was an
earlier run, by how it went there. The others are ordered by that and cut into strata; from each, sessions are drawn by
chance in proportion to its size and its expected standard deviation (Neyman 1934).

What was asked before a phase is known, and the strata of the phase stand for the rest: given what was asked before,
that is an estimate without bias, however the answers so far were used. The estimates of several phases are not
correlated, since each is right in the mean whatever the ones before it are. They are averaged by the inverse of their
variances, which are those that all answers together make expect: where a phase happens to have few misses, its own
would favour it. (To go on drawing from the strata of the first phase would be simpler, but is biased: where the first
few sessions of a stratum are all right by chance, no more of it is asked.)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from ci_eval.chance import draw
from ci_eval.model.sampling import Sampling, Stratum
from ci_eval.statistics.expected import Floats, Places, expected
from ci_eval.statistics.weighted import ERRORS, figure, moments, of_share

FIRST = 200
"""Sessions of the first phase, at most; of these nothing is known but, where there was one, how an earlier run went."""
TRUSTED = 0.9
"""Until it is known how well an earlier run foretells this one: what was right there is right here with a chance of
one half and half of this."""
GROWTH = 0.7
"""A phase asks at most so many times as many sessions as were asked before it, since the next one knows more."""
LEAST = 48
"""Sessions of a phase, at least: each starts the engine anew."""
STRATA = 8
"""In a phase, at most."""
FEWEST = 12
"""Sessions that are drawn from a stratum, at least."""


@dataclass(frozen=True)
class Frame:
    """All sessions of a project under a strategy."""

    ids: Sequence[str]
    features: Sequence[Places]
    """Of each, what distinguishes most first: the number of the value that each session has of it."""
    before: Floats | None = None
    """How well each session went in an earlier run (0 to 1), a half where that is not known; None = there is none."""

    @property
    def beforehand(self) -> Floats:
        """How well each session is expected to go before any was asked: as it went earlier, but not as surely."""
        if self.before is None:
            return np.full(len(self.ids), 0.5)
        return np.asarray((1 - TRUSTED) / 2 + TRUSTED * self.before)


@dataclass(frozen=True)
class Phase:
    """What is to be asked next."""

    number: int
    strata: Sequence[Places]
    """The places of the sessions that are in each: none of them had been asked before."""
    drawn: Sequence[Places]
    """Of each stratum: the places of the sessions that are drawn."""

    def variance(self, chances: Floats) -> float:
        """That of its estimate of a total, where sessions go right with these chances."""
        total = 0.0
        for all_, some in zip(self.strata, self.drawn, strict=True):
            mean = float(chances[all_].mean())
            total += len(all_) * (len(all_) / len(some) - 1) * mean * (1 - mean)
        return total


class Estimated(NamedTuple):
    """A figure and its 95 % interval."""

    value: float
    low: float
    high: float


@dataclass
class Sampler:
    """Draws the sessions of one run, phase by phase; the same ones for the same answers."""

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
        """How well each session is expected to go."""

    @property
    def asked(self) -> Places:
        """The places of the sessions that were asked."""
        return np.flatnonzero(self._stratum)

    def strata(self) -> dict[str, int]:
        """Of each session that was asked: the number of its stratum, from 1."""
        return {self.frame.ids[place]: int(self._stratum[place]) for place in self.asked.tolist()}

    @property
    def is_precise(self) -> bool:
        """Whether the interval is narrow enough, or all sessions are asked."""
        return bool(self.phases) and (len(self.asked) == len(self.frame.ids) or self.reach() <= self.precision)

    def figure(self) -> Estimated | None:
        """The metric's figure with its 95 % interval; None where it was observed in no session."""
        value, reach = figure(np.stack(self._moments), self.sampling)
        return None if value is None else Estimated(value, *of_share(value, reach))

    def reach(self) -> float:
        """How far the metric's interval reaches to the side to which it reaches further."""
        found = self.figure()
        return max(found.value - found.low, found.high - found.value) if found else np.inf

    @property
    def sampling(self) -> Sampling:
        """The sample so far."""
        inverse = 1 / np.maximum([phase.variance(self._expected) for phase in self.phases], 1e-12)
        shares = inverse / inverse.sum()
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
        """What the metric observed in the sessions of that phase, one stratum after the other: numerators and
        denominators, both 0 where it observed nothing."""
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
            self._expected = expected(self.frame.features, asked, self._above[asked] / self._below[asked])

    def next_phase(self) -> Phase:
        """The sessions that are asked next."""
        number, left = len(self.phases), np.flatnonzero(self._stratum == 0)
        chances = self._expected[left]
        spread = np.sqrt(chances * (1 - chances))
        # Of equal ones, those that are alike stay together. What was right in an earlier run is never in one stratum
        # with what was wrong: it would not be known of such a stratum how it goes.
        earlier = self.frame.features[0][left] * (self.frame.before is not None)
        order = np.lexsort((*(each[left] for each in reversed(self.frame.features)), chances, earlier))
        reached, wanted = np.cumsum(spread[order]), self._wanted(spread)
        strata = min(STRATA, max(wanted // FEWEST, 1))
        ends = np.searchsorted(reached, reached[-1] * np.arange(1, strata) / strata)
        changes = np.flatnonzero(np.diff(earlier[order])) + 1
        parts = [part for part in np.split(order, np.union1d(ends, changes)) if len(part)]
        sizes, spreads = np.array([len(part) for part in parts]), np.array([spread[part].mean() for part in parts])
        counts = allocate(sizes, spreads, wanted)
        drawn = [left[self._draw(left, part, count, number)] for part, count in zip(parts, counts, strict=True)]
        return Phase(number, [left[part] for part in parts], drawn)

    def _wanted(self, spread: Floats) -> int:
        """How many sessions the next phase asks, about: as many as should do, if it does not grow too fast."""
        if not self.phases:
            return min(FIRST, len(spread))
        reached = (ERRORS / max(self.reach(), self.precision)) ** 2
        lacking = max((ERRORS / self.precision) ** 2 - reached, 1e-9) / len(self.frame.ids) ** 2
        enough = spread.sum() ** 2 / (1 / lacking + (spread**2).sum())
        most = max(FIRST, GROWTH * len(self.asked))
        return int(min(max(enough, LEAST), most, len(spread)))

    def _draw(self, left: Places, part: Places, count: int, number: int) -> Places:
        numbers = [draw(self.seed, f"{number} {self.frame.ids[place]}") for place in left[part].tolist()]
        return np.asarray(part[np.sort(np.argsort(numbers, kind="stable")[:count])])


def allocate(sizes: Places, spreads: Floats, wanted: int) -> Places:
    """How many sessions are drawn from each stratum: about `wanted` in all, in proportion to size x spread, but FEWEST
    at least, and not more than there are."""
    least = np.minimum(FEWEST, sizes)
    low, high = 0.0, float(wanted + sizes.sum())
    shares = sizes * spreads / (sizes * spreads).sum()
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if np.clip(middle * shares, least, sizes).sum() < wanted else (low, middle)
    return np.asarray(np.rint(np.clip(high * shares, least, sizes)).astype(np.int64))
