"""Which sessions to ask, so that few of them tell a project's figure precisely.

The sessions of a project are a finite population. They are asked in phases. Before each phase, the answers so far tell
how likely each of the other sessions is to be right: the rate in its cell (how it went in an earlier run, if there was
one; its kind, what else is known of its token, its text), drawn towards the rate in the larger cell around it. The
others are ordered by that and cut into strata; from each, sessions are drawn by chance in proportion to its size and
its expected standard deviation (Neyman 1934).

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
from numpy.typing import NDArray

from ci_eval.chance import draw
from ci_eval.model.sampling import Sampling, Stratum
from ci_eval.statistics.weighted import ERRORS, figure, moments, of_share

Floats = NDArray[np.float64]
Places = NDArray[np.int64]

FIRST = 200
"""Sessions of the first phase, at most; of these nothing is known but, where there was one, how an earlier run went."""
TRUSTED = 0.9
"""Until it is known how well an earlier run foretells this one: what was right there is right here with a chance of
one half and half of this."""
GROWTH = 1.0
"""A phase asks at most so many times as many sessions as were asked before it, since the next one knows more."""
STRATA = 8
"""In a phase, at most."""
FEWEST = 12
"""Sessions that are drawn from a stratum, at least."""
PULLS = (4.0, 8.0, 16.0, 32.0, 64.0, 128.0)
"""So many sessions with the rate of the larger cell are added to each cell: as many of these as tell best of a part of
the answers what the others were."""
FOLDS = 4
"""Such parts."""
MARGIN = 1.2
"""The last phase asks so many times as many sessions as should do."""
NEARLY = 1e-3
"""No session is expected to be right, or wrong, with a higher chance than 1 minus this."""


@dataclass(frozen=True)
class Frame:
    """All sessions of a project under a strategy."""

    ids: Sequence[str]
    cells: Sequence[Places]
    """Coarse to fine: the number of the cell that each session is in."""
    before: Floats | None = None
    """How well each session went in an earlier run (0 to 1), a half where that is not known; None = there is none."""

    @property
    def beforehand(self) -> Floats:
        """How well each session is expected to go before any was asked: as it went earlier, but not as surely."""
        if self.before is None:
            return np.full(len(self.ids), 0.5)
        return np.asarray((1 - TRUSTED) / 2 + TRUSTED * self.before)

    def rates(self, asked: Places, values: Floats) -> Floats:
        """How well each session is expected to go (0 to 1), by the values of those that were asked."""
        fold = np.arange(len(asked)) % FOLDS

        def surprise(pull: float) -> float:
            """By the values of the others, at those of each fold (cross-entropy)."""
            total = 0.0
            for number in range(FOLDS):
                known, other = fold != number, fold == number
                expected, found = self._rates(asked[known], values[known], pull)[asked[other]], values[other]
                total -= float(found @ np.log(expected) + (1 - found) @ np.log(1 - expected))
            return total

        return self._rates(asked, values, min(PULLS, key=surprise))

    def _rates(self, asked: Places, values: Floats, pull: float) -> Floats:
        found = np.full(len(self.ids), (values.sum() + 1) / (len(values) + 2))
        for cells in self.cells:
            count, total = np.bincount(cells[asked], minlength=cells.max() + 1), np.zeros(cells.max() + 1)
            np.add.at(total, cells[asked], values)
            found = (total[cells] + pull * found) / (count[cells] + pull)
        return np.asarray(np.clip(found, NEARLY, 1 - NEARLY))


@dataclass(frozen=True)
class Phase:
    """What is to be asked next."""

    number: int
    strata: Sequence[Places]
    """The places of the sessions that are in each: none of them had been asked before."""
    drawn: Sequence[Places]
    """Of each stratum: the places of the sessions that are drawn."""

    def variance(self, expected: Floats) -> float:
        """That of its estimate of a total, where sessions go as well as `expected` says."""
        total = 0.0
        for all_, some in zip(self.strata, self.drawn, strict=True):
            mean = float(expected[all_].mean())
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
            self._expected = self.frame.rates(asked, self._above[asked] / self._below[asked])

    def next_phase(self) -> Phase:
        """The sessions that are asked next."""
        number, left = len(self.phases), np.flatnonzero(self._stratum == 0)
        expected = self._expected[left]
        spread = np.sqrt(expected * (1 - expected))
        # Of equal ones, those of one cell stay together. What was right in an earlier run is never in one stratum with
        # what was wrong: it would not be known of such a stratum how it goes.
        earlier = self.frame.cells[0][left] * (self.frame.before is not None)
        order = np.lexsort((*(cells[left] for cells in self.frame.cells), expected, earlier))
        reached = np.cumsum(spread[order])
        ends = np.searchsorted(reached, reached[-1] * np.arange(1, STRATA) / STRATA)
        changes = np.flatnonzero(np.diff(earlier[order])) + 1
        parts = [part for part in np.split(order, np.union1d(ends, changes)) if len(part)]
        sizes, spreads = np.array([len(part) for part in parts]), np.array([spread[part].mean() for part in parts])
        counts = allocate(sizes, spreads, self._wanted(spread))
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
        return int(min(max(MARGIN * enough, STRATA * FEWEST / 2), most, len(spread)))

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
