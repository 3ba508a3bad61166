"""Sums over the paired sessions of a filter, a part or a stratum."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from ci_eval.core.statistics.population import Key, Strata, Stratum
from ci_eval.core.statistics.repeated import Wavering
from ci_eval.core.statistics.sampled import pool
from ci_eval.core.statistics.student import Floats
from ci_eval.core.statistics.timing import BINS


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
        flat = seen.reshape(len(seen), 4 * self.figures)
        of_file: Floats = seen.sum(axis=0)
        self.total += of_file
        self.products += flat.T @ flat
        above_base, below_base, above_new, below_new = np.moveaxis(seen, -1, 0)
        # Fractions are compared by cross-multiplication, which is exact for whole numbers.
        moved = np.sign(above_new * below_base - above_base * below_new)
        directions = np.where((below_base != 0) & (below_new != 0), moved, 0.0)
        self.moved += np.stack([(directions > 0).sum(axis=0), (directions < 0).sum(axis=0)], axis=-1)
        changed = (seen[:, :, :2] != seen[:, :, 2:]).any(axis=2)
        self.changes += changed.sum(axis=0)
        self.changed_files += changed.any(axis=0)
        differences = seen[:, :, 2] - seen[:, :, 0]
        # Most differences are 0, and powers of 0 take as long to compute as other powers.
        powers = np.power(differences, 4, out=np.zeros_like(differences), where=differences != 0)
        self.fourths += powers.sum(axis=0)
        self.observed_by_side += (seen[:, :, [1, 3]] != 0).sum(axis=0)
        return of_file

    def add_to_stratum(self, key: Key, seen: Floats) -> None:
        stratum = self.by_stratum.setdefault(key, Sums(self.figures, self.rounds))
        stratum.rows.append(stratum.add(seen))
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
