"""Gates on a share, once more: from docs/statistics.md and docs/gates.md, with numpy and scipy alone.

Nothing of ci-eval is imported here, and nothing is summed in advance: each figure comes from the sessions themselves.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tests.needs import need_module

Sessions = NDArray[np.float64]

FLOOR = 0.001
MARGIN = 0.005


@dataclass(frozen=True)
class Case:
    """A comparison of one metric, and one gate on it."""

    base: Sessions
    new: Sessions
    files: NDArray[np.int64]
    """The number of each session's file."""
    population: int
    """The number of the project's sessions."""
    twice: int
    """The sessions of both engines that were asked twice."""
    differed: int
    is_known: bool
    """True if all sessions were asked in several rounds, and answered alike."""
    kind: str
    """`difference`, `non-inferior` or `figure`."""
    limits: tuple[float, ...]
    of_code: bool

    @property
    def difference(self) -> float:
        return float((self.new - self.base).mean())

    @property
    def left(self) -> float:
        """The share of the population that was not asked."""
        # One file does not tell how answers vary from file to file: they count as those of a project without end.
        alone = not self.is_measured and len(np.unique(self.files)) == 1
        return 1.0 if alone else 1 - len(self.base) / self.population

    @property
    def is_measured(self) -> bool:
        return self.is_known and not self.differed


def quantile(df: float) -> float:
    """Return the number of standard errors that a 95 % interval reaches to each side."""
    return float(need_module("scipy.stats").t.ppf(0.975, df))


def of_project(case: Case) -> tuple[float, float]:
    """Return the interval of Bonett and Price, with the correction of a finite population, and what answers that nobody
    has seen may move: of engines asked once, what differs from file to file."""
    changes, left = case.new - case.base, case.left
    size = len(changes) + 2 * left
    center, df = changes.sum() / size, np.inf
    variance = max(left * ((changes**2).sum() + 2 - size * center**2), 0) / size**2
    if case.is_measured:
        widen = 3 / case.twice
    else:
        widen = 0 if changes.any() else 3 / len(changes)
        moved = leave_out(case)
        if moved.any():
            variance = max(variance, (moved**2).sum() * (1 - 1 / len(moved)))
            df = max((moved**2).sum() ** 2 / (moved**4).sum() - 1, 1)
    reach = quantile(df) * np.sqrt(variance) + widen
    return center - reach, center + reach


def leave_out(case: Case) -> Sessions:
    """Return by how much the difference moves without each file."""
    _, sizes = np.unique(case.files, return_counts=True)
    if len(sizes) == 1 or (case.new == case.base).all():
        return np.zeros(len(sizes))
    own = np.array([part.sum() for part in np.split(case.new - case.base, np.cumsum(sizes)[:-1])])
    return np.asarray((own.sum() - own) / (sizes.sum() - sizes) - own.sum() / sizes.sum())


def has_verdict(case: Case) -> bool:
    """Return whether enough changed for a verdict on engines that were asked once."""
    changed = case.new != case.base
    # Of one or two files, all must change, and all second answers must have been the same.
    files = min(3, len(np.unique(case.files))) if case.twice >= 8 and not case.differed else 3
    return case.is_measured or (changed.sum() >= 8 and len(np.unique(case.files[changed])) >= files)


def of_code(case: Case) -> tuple[float, float, float]:
    """Return the jackknife's interval over files, and how many files of equal size they are worth."""
    names, sizes = np.unique(case.files, return_counts=True)
    effective = sizes.sum() ** 2 / (sizes**2).sum()
    if len(names) == 1:
        return np.nan, np.nan, effective
    # The mean over all sessions but those of one file.
    own = np.array([part.sum() for part in np.split(case.new - case.base, np.cumsum(sizes)[:-1])])
    moved = (own.sum() - own) / (sizes.sum() - sizes) - own.sum() / sizes.sum()
    if not own.any():
        error, df = 1 / len(case.base), 1.0
    else:
        error = np.sqrt((moved**2).sum() * (len(names) - 1) / len(names))
        df = max(min((moved**2).sum() ** 2 / (moved**4).sum(), effective - 1), 1)
    reach = quantile(df) * error
    return case.difference - reach, case.difference + reach, effective


def of_figure(case: Case) -> tuple[float, float]:
    """Return the interval of new's share, as Agresti and Coull have it."""
    left = 1 - len(case.new) / case.population
    size = len(case.new) + 4 * left
    center = (case.new.sum() + 2 * left) / size
    four = np.array([0, 0, 1, 1])
    squares = ((case.new - center) ** 2).sum() + ((four - center) ** 2).sum()
    reach = quantile(np.inf) * np.sqrt(left * squares) / size
    return max(center - reach, 0), min(center + reach, 1)


def check(case: Case) -> str:
    """Return kept, broken or undecided."""
    if case.kind == "figure":
        low, high = of_figure(case)
        limit = max(case.limits)
        return "kept" if low >= limit else "undecided" if high >= limit else "broken"
    low, high, effective = of_code(case) if case.of_code else (*of_project(case), np.inf)
    if np.isnan(low):
        return "undecided"
    if case.kind == "difference":
        limit = min(-limit for limit in case.limits)
        is_shown = (low > 0 or high < 0) and abs(case.difference) >= FLOOR and (case.of_code or has_verdict(case))
        if case.difference < limit and is_shown:
            return "broken"
        return "kept" if low == high or low >= limit else "undecided"
    (margin,) = case.limits
    if case.of_code:
        if effective < 300 * max(MARGIN / margin, 1):
            return "undecided"
        middle, half = (low + high) / 2, (high - low) / 2 * 1.5
        low, high = middle - half, middle + half
    if low > -margin:
        is_enough = case.of_code or low == high or len(case.base) >= 100
        return "kept" if is_enough else "undecided"
    return "broken" if high <= -margin else "undecided"
