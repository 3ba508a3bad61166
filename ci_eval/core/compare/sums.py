"""Sums over the paired sessions of a filter, a part or a stratum."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from ci_eval.core.statistics.population import Key, Strata, Stratum
from ci_eval.core.statistics.repeated import Wavering
from ci_eval.core.statistics.sampled import pool
from ci_eval.core.statistics.stats import Numbers
from ci_eval.core.statistics.student import Floats
from ci_eval.core.statistics.timing import BINS


class FileSums(NamedTuple):
    """The sums over pairs of one file. The fields are those of `Sums`."""

    total: Floats
    products: Floats
    moved: Numbers
    changes: Numbers
    fourths: Floats
    observed_by_side: Numbers

    @classmethod
    def of(cls, seen: Floats) -> FileSums:
        """`seen`: the numbers of each pair (pairs x figures x 4)."""
        flat, figures = seen.reshape(len(seen), 4 * seen.shape[1]), seen.shape[1]
        changed = (seen[:, :, 0] != seen[:, :, 2]) | (seen[:, :, 1] != seen[:, :, 3])
        # Most numbers did not change, and powers of 0 take as long to compute as other powers.
        pairs, of_figure = np.nonzero(changed)
        above_base, below_base, above_new, below_new = seen[pairs, of_figure].T
        # Fractions are compared by cross-multiplication, which is exact for whole numbers.
        moved = np.sign(above_new * below_base - above_base * below_new)
        directions = np.where((below_base != 0) & (below_new != 0), moved, 0.0)
        rose, fell = (np.bincount(of_figure[moving], minlength=figures) for moving in (directions > 0, directions < 0))
        powers = np.zeros(changed.shape)
        powers[changed] = np.power(above_new - above_base, 4)
        return cls(
            total=seen.sum(axis=0),
            products=flat.T @ flat,
            moved=np.stack([rose, fell], axis=-1),
            changes=changed.sum(axis=0),
            fourths=powers.sum(axis=0),
            observed_by_side=(seen[:, :, 1::2] != 0).sum(axis=0),
        )


class FileNumbers:
    """The numbers of a file's pairs (pairs x figures x 4). Sums over the same pairs are computed only once: a filter,
    a part and a stratum often have the same pairs."""

    def __init__(self, seen: Floats) -> None:
        self._seen = seen
        self._sums: dict[bytes, FileSums] = {}

    def sum_over(self, own: Numbers) -> FileSums:
        """`own`: the indices of pairs, in ascending order."""
        key = own.tobytes()
        if key not in self._sums:
            self._sums[key] = FileSums.of(self._seen[own])
        return self._sums[key]


class Sums:
    """Sums over pairs of sessions. Each figure has four numbers: numerator and denominator of base, then of new."""

    def __init__(self, figures: int, rounds: tuple[int, int] = (1, 1)) -> None:
        self.figures = figures
        self.rounds = rounds
        self.sessions = self.wins = self.losses = 0
        self.total: Floats = np.zeros((figures, 4))
        self.products: Floats = np.zeros((4 * figures, 4 * figures))
        """The products of every two numbers of a session, summed over all sessions."""
        self.observed_by_side: Floats = np.zeros((figures, 2))
        self.rows: list[Floats] = []
        """The sums of each file that has a pair (figures x 4)."""
        self.moved: Floats = np.zeros((figures, 2))
        """By figure: the number of sessions whose value rose, and the number of sessions whose value fell."""
        self.changes: Floats = np.zeros(figures)
        """The number of sessions that differ between the sides."""
        self.changed_files: Floats = np.zeros(figures)
        self.fourths: Floats = np.zeros(figures)
        """Sums of fourth powers of differences; they only make sense for a mean over sessions."""
        self.wavering = (Wavering(rounds[0]), Wavering(rounds[1]))
        self.by_stratum: dict[Key, Sums] = {}
        """The sums of each stratum, if the population is divided."""
        self.places: list[int] = []
        """Only for the sums of a stratum: the index of each of its rows in the rows over all strata."""
        self.sample: list[Stratum] = []
        """The strata if asked in unequal shares, else []. With strata, `total`, `rows` and `wavering` are weighted."""
        self.weights: Floats = np.zeros(0)
        self.asked: float | None = None
        """The smallest asked share among the strata of these sessions. If None, the share of all sessions applies."""

    @property
    def observed(self) -> Floats:
        return np.asarray(self.observed_by_side.min(axis=1))

    def add(self, seen: Floats) -> Floats:
        """Add the pairs of one file (pairs x figures x 4). Return their sum (figures x 4)."""
        return self.add_sums(FileSums.of(seen))

    def add_sums(self, of_file: FileSums) -> Floats:
        self.total += of_file.total
        self.products += of_file.products
        self.moved += of_file.moved
        self.changes += of_file.changes
        self.changed_files += of_file.changes > 0
        self.fourths += of_file.fourths
        self.observed_by_side += of_file.observed_by_side
        return of_file.total

    def add_to_stratum(self, key: Key, of_file: FileSums) -> None:
        stratum = self.by_stratum.setdefault(key, Sums(self.figures, self.rounds))
        stratum.rows.append(stratum.add_sums(of_file))
        stratum.places.append(len(self.rows) - 1)

    def weigh(self, strata: Strata, asked: Mapping[Key, int]) -> bool:
        """Weight sessions, and return True, if strata were asked in unequal shares. `asked`: counts by stratum."""
        keys = [*self.by_stratum]
        self.asked = strata.share(asked, keys) if keys else None
        self.sample = strata.weighted(asked, keys)
        if not self.sample:
            return False
        # The mean weight of a session is 1, so that sums keep their size.
        scale = sum(asked.values()) / strata.total(asked)
        self.weights = np.array([scale * stratum.weight for stratum in self.sample])
        self.total, self.fourths = np.zeros_like(self.total), np.zeros_like(self.fourths)
        self.rows = [np.zeros_like(row) for row in self.rows]
        self.wavering = (Wavering(self.rounds[0]), Wavering(self.rounds[1]))
        for weight, own in zip(self.weights, self.by_stratum.values(), strict=True):
            self.total += weight * own.total
            self.fourths += weight**4 * own.fourths
            for place, row in zip(own.places, own.rows, strict=True):
                self.rows[place] = self.rows[place] + weight * row
            for mine, theirs in zip(self.wavering, own.wavering, strict=True):
                mine.add_all(theirs, weight=weight)
        return True

    def pool(self, *, finite: bool) -> tuple[Floats, Floats]:
        """Return `products` and `observed`, converted for formulas of a simple sample if the sample is stratified."""
        if not self.sample:
            return self.products, self.observed
        strata = [(own.total.reshape(-1), own.products, own.observed) for own in self.by_stratum.values()]
        total, products, observed = (np.stack(column) for column in zip(*strata, strict=True))
        return pool(self.sample, self.weights, total, products, observed, finite=finite)


class FilterSums(Sums):
    def __init__(self, figures: int, rounds: tuple[int, int] = (1, 1)) -> None:
        super().__init__(figures, rounds)
        self.clusters: Sequence[int] = ()
        """The cluster of each file: the sampling unit of verdicts on other code. If empty, each file is a cluster."""
        self.latencies: Floats = np.zeros((2, BINS))
        """The number of lookups in each latency bin (`statistics/timing.py`): of base, then of new."""

    @property
    def by_cluster(self) -> Floats:
        """Return the sums by cluster (clusters x figures x 4)."""
        rows = np.stack(self.rows)
        if not self.clusters:
            return rows
        whole = np.zeros((max(self.clusters) + 1, *rows.shape[1:]))
        np.add.at(whole, list(self.clusters), rows)
        return whole
