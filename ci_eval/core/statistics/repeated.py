"""Measure the engine's own noise: how much figures vary because its answers to the same sessions differ between rounds.

A report has the figures of the first round, which is one of the rounds that might have happened, so a figure's
variance is its variance between rounds. All sessions of a file may vary together (an index that is not ready, a crash,
a cache), so a file counts as one unit: its sums are computed in each round, and the variances of these are added up.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from math import sqrt

import msgspec
import numpy as np

from ci_eval.core.model import Determinism, Noise, SessionScore
from ci_eval.core.scoring import evaluated
from ci_eval.core.statistics.student import NORMAL, Floats


class NoiseVariance(msgspec.Struct, frozen=True):
    variance: Floats
    df: Floats

    @classmethod
    def of(cls, sides: Sequence[NoiseVariance]) -> NoiseVariance:
        """Return the summed variance, with its degrees of freedom (Welch 1947, Satterthwaite 1946)."""
        variance = np.sum([side.variance for side in sides], axis=0)
        apart = np.sum([side.variance**2 / side.df for side in sides], axis=0)
        with np.errstate(invalid="ignore", divide="ignore"):
            return cls(variance, np.where(variance > 0, variance**2 / apart, np.inf))

    def add_sampling(self, variance: Floats) -> tuple[Floats, Floats]:
        """Add the `variance` of sampling, which is taken as exact. Return standard errors, degrees of freedom."""
        total = variance + self.variance
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.sqrt(total), np.where(self.variance > 0, self.df * (total / self.variance) ** 2, np.inf)


class Wavering:
    """The differences of each round from the first one, summed by file."""

    def __init__(self, rounds: int) -> None:
        self.rounds = rounds
        self._files: dict[int, Floats] = {}

    def add(self, seen: Floats, file: int = 0) -> None:
        """Add a session that differs between rounds. `seen`: the session's numbers (rounds x figures x numbers)."""
        # Sessions that are answered alike add the same to every round, which changes no variance.
        self._files[file] = self._files.get(file, 0) + (seen - seen[0])

    def add_all(self, other: Wavering, files: int = 0, weight: float = 1.0) -> None:
        for file, moved in other._files.items():
            self._files[files + file] = self._files.get(files + file, 0) + weight * moved

    def variance(self, weights: Floats, figures: Sequence[int] = (0,)) -> NoiseVariance:
        """Return the variances of figures. `weights` (figures x numbers): derivatives with respect to sums."""
        if not self._files:
            return NoiseVariance(np.zeros(len(weights)), np.full(len(weights), np.inf))
        moved = np.stack(list(self._files.values()))[:, :, list(figures)]
        of_files = np.einsum("orfi,fi->orf", moved, weights).var(axis=1, ddof=1)
        variance, squares = of_files.sum(axis=0), (of_files**2).sum(axis=0)
        with np.errstate(invalid="ignore", divide="ignore"):
            df = np.where(squares > 0, (self.rounds - 1) * variance**2 / squares, np.inf)
        return NoiseVariance(variance, df)


RULE_OF_THREE = 3.0
"""If none of n sessions differed, the true share that differs is at most 3/n, with a confidence of 95 %."""


class Repeats(msgspec.Struct, frozen=True):
    """The evidence on whether engines give the same answers if they are asked again.

    Only a second round, in a fresh process, shows that: a second question to the same process shows neither an index
    that was not ready nor a process that crashed. An engine that is a function of its question needs no second round.
    """

    asked: int = 0
    """The number of sessions, over all these engines, that were asked more than once."""
    differed: int = 0
    """The number of these sessions whose answers differed."""
    whole: bool = True
    """True if each engine is a function of its question, or was asked all sessions in several rounds."""

    @classmethod
    def of(cls, sides: Iterable[tuple[bool, int, Determinism | None]]) -> Repeats:
        """`sides`: for each engine, whether it is a function of its question, its rounds, and its repeated sessions."""
        unsure = [(rounds, state) for constructed, rounds, state in sides if not constructed]
        again = sum((state for _, state in unsure if state), Determinism())
        return cls(again.asked, again.differed, all(rounds > 1 and state for rounds, state in unsure))

    @property
    def alike(self) -> bool:
        return self.whole and not self.differed

    @property
    def unseen(self) -> float:
        """The largest share of sessions that may differ although all rounds agreed; 0 for functions."""
        return RULE_OF_THREE / self.asked if self.asked else 0.0


DETERMINISTIC = Repeats()


class SecondQuestions(msgspec.Struct):
    """Sessions that one process was asked twice, and their files. They bound the noise of an engine with one round."""

    sessions: Determinism = msgspec.field(default_factory=Determinism)
    files: Determinism = msgspec.field(default_factory=Determinism)

    def add(self, again: Collection[SessionScore]) -> None:
        differed = sum(session.differing > 0 for session in again)
        self.sessions += Determinism(asked=len(again), differed=differed)
        self.files += Determinism(asked=int(len(again) > 0), differed=int(differed > 0))

    def add_all(self, other: SecondQuestions) -> None:
        self.sessions += other.sessions
        self.files += other.files

    def bound(self, sizes: Floats, span: float) -> NoiseVariance:
        """Return an upper bound on the variance of a mean over sessions that vary file by file.

        `sizes`: the number of sessions of each file. `span`: the largest change of one session. A file whose answers
        change half of the time has a variance of 1/4 of its squared size, and differs half of the time if asked twice.
        A figure changes by no more than the share of sessions whose answers change.
        """
        of_files = highest_share(self.files) / 2 * float((sizes**2).sum()) / max(float(sizes.sum()) ** 2, 1)
        variance = span**2 * min(of_files, (highest_share(self.sessions) / NORMAL.inv_cdf(0.975)) ** 2)
        return NoiseVariance(np.array([variance]), np.array([np.inf]))


def highest_share(state: Determinism) -> float:
    """Return the 95 % upper bound of the share that differs (about Poisson's bound: 3 / asked if none differed)."""
    return min(1.0, (state.differed + 3 + 2 * sqrt(state.differed)) / max(state.asked, 1))


class Rounds:
    def __init__(self, rounds: int) -> None:
        self._rounds = rounds
        self._sessions = 0
        self._differing = 0
        self._sums = np.zeros((rounds, 2))
        """The sum of latencies and their number, by round."""

    def add(self, session: SessionScore) -> None:
        if not evaluated(session):
            return
        self._sessions += 1
        self._differing += session.differing > 0
        for lookup in session.lookups:
            for number, latency in enumerate(lookup.latencies[: self._rounds]):
                if latency is not None:
                    self._sums[number] += latency, 1

    def add_all(self, other: Rounds) -> None:
        self._sessions += other._sessions
        self._differing += other._differing
        self._sums += other._sums

    def noise(self) -> Noise | None:
        if self._rounds == 1:
            return None
        latencies = tuple([total / count if count else None for total, count in self._sums.tolist()])
        return Noise(rounds=self._rounds, sessions=self._sessions, differing=self._differing, latencies=latencies)


def measure_noise(sessions: Iterable[SessionScore], rounds: int) -> Noise | None:
    """Return how much an engine's answers differed between rounds; None if there was one round."""
    totals = Rounds(rounds)
    for session in sessions if rounds > 1 else ():
        totals.add(session)
    return totals.noise()


def noise_text(noise: Noise) -> str:
    share = noise.differing / max(noise.sessions, 1)
    times = ", ".join("none" if latency is None else f"{latency:.1f}" for latency in noise.latencies)
    return (
        f"asked in {noise.rounds} rounds, each with a fresh process: answers differed in {noise.differing:,} of "
        f"{noise.sessions:,} sessions ({share:.1%}); mean latency by round {times} ms"
    )
