"""The engine's own noise: how far figures move because the engine answers the same sessions differently in each round.

The figures of a report are those of the first round, one of the answers that the engine might have given, so their
variance is that between rounds. An engine may waver file by file (an index that is not ready, a crash, a cache), so the
sessions of a file count as one: the variance is the sum over files of that of the file's sum.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ci_eval.core.statistics.student import Floats


@dataclass(frozen=True)
class NoiseVariance:
    """The variance of each figure that comes from the engine's own noise: it answers differently in another round."""

    variance: Floats
    df: Floats
    """The degrees of freedom of the variance."""

    @classmethod
    def of(cls, sides: Sequence[NoiseVariance]) -> NoiseVariance:
        """Return the sum of the variances of each side, with its degrees of freedom (Welch 1947, Satterthwaite
        1946)."""
        variance = np.sum([side.variance for side in sides], axis=0)
        apart = np.sum([side.variance**2 / side.df for side in sides], axis=0)
        with np.errstate(invalid="ignore", divide="ignore"):
            return cls(variance, np.where(variance > 0, variance**2 / apart, np.inf))

    def add_sampling(self, variance: Floats) -> tuple[Floats, Floats]:
        """Return standard errors and degrees of freedom once the `variance` of sampling, itself known well, is
        added."""
        total = variance + self.variance
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.sqrt(total), np.where(self.variance > 0, self.df * (total / self.variance) ** 2, np.inf)


class Wavering:
    """The movement of several figures from round to round, file by file.

    Each figure is observed as a few numbers per session, such as a numerator and a denominator.
    """

    def __init__(self, rounds: int) -> None:
        self.rounds = rounds
        self._files: dict[int, Floats] = {}

    def add(self, seen: Floats, file: int = 0) -> None:
        """Add a session that was not answered alike in all rounds: its numbers (rounds x figures x numbers)."""
        # Sessions answered alike add the same to every round, so the variance does without them.
        self._files[file] = self._files.get(file, 0) + (seen - seen[0])

    def add_all(self, other: Wavering, files: int = 0, weight: float = 1.0) -> None:
        """Add the sessions of another instance, each `weight` times, after shifting its files by `files`."""
        for file, moved in other._files.items():
            self._files[files + file] = self._files.get(files + file, 0) + weight * moved

    def variance(self, weights: Floats, figures: Sequence[int] = (0,)) -> NoiseVariance:
        """Return the variance of each of these figures. `weights` (figures x numbers): the figure's derivative with
        respect to each number's sum."""
        if not self._files:
            return NoiseVariance(np.zeros(len(weights)), np.full(len(weights), np.inf))
        moved = np.stack(list(self._files.values()))[:, :, list(figures)]
        of_files = np.einsum("orfi,fi->orf", moved, weights).var(axis=1, ddof=1)
        variance, squares = of_files.sum(axis=0), (of_files**2).sum(axis=0)
        with np.errstate(invalid="ignore", divide="ignore"):
            df = np.where(squares > 0, (self.rounds - 1) * variance**2 / squares, np.inf)
        return NoiseVariance(variance, df)
