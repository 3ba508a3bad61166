"""Sums over sessions of several projects that were asked in unequal shares: each session stands for N/n of its project.

Without weights, a project of which more was asked would count for more. The variance is that within the projects, with
the correction of each one's finite population (Cochran, Sampling Techniques, 5.9).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ci_eval.statistics.student import Floats

UNEQUAL = 1.1
"""Shares that differ by less than this factor are those of one sample: chance alone makes them differ."""


@dataclass(frozen=True)
class Stratum:
    """The sums over the sessions of one project."""

    sessions: float
    """All that it has."""
    asked: float
    total: Floats
    """(figures x numbers)"""
    products: Floats
    """(all numbers x all numbers): sums over sessions of the product of each two of these."""

    @property
    def weight(self) -> float:
        """The sessions that one of those that were asked stands for."""
        return self.sessions / self.asked

    @property
    def left(self) -> float:
        """The share that was not asked."""
        return max(1 - self.asked / self.sessions, 0.0)


def unequal(shares: Sequence[float]) -> bool:
    """Return whether the projects were asked in shares that differ too much to be pooled without weights."""
    return min(shares, default=1.0) * UNEQUAL < max(shares, default=1.0)


def total(strata: Sequence[Stratum]) -> Floats:
    """Return the weighted sums (figures x numbers)."""
    return np.asarray(sum((stratum.weight * stratum.total for stratum in strata), np.zeros_like(strata[0].total)))


def covariance(strata: Sequence[Stratum], weights: Floats, most: Floats, *, finite: bool) -> Floats:
    """Return the covariances (figures x figures) of estimates that are weighted sums over sessions, to first order.

    `weights` (all numbers x figures): the derivative of each estimate with respect to the weighted sums. `most`: the
    most that one session can add to each estimate, before it is weighted; so that rare changes do not get an interval
    of width zero, the sessions of each project get two of these, as in `sampled.here`. `finite`: whether the rest of
    the project is all that is unknown; else the answers may vary, too.
    """
    found = np.zeros((weights.shape[1],) * 2)
    for stratum in strata:
        size = max(stratum.asked, 2.0)
        sums = stratum.total.reshape(-1) @ weights
        within = weights.T @ stratum.products @ weights - np.outer(sums, sums) / size
        within += 2 * np.diag(most**2) / len(strata)
        left = stratum.left if finite else 1.0
        found += stratum.weight**2 * left * within * size / (size - 1)
    return found
