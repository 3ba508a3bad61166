"""Infer figures and differences for other code like this project from the files of this project.

The sampling units are called clusters. They are files, since sessions of one file resemble each other, or projects if
several were merged. The standard error is that of the jackknife, which omits one cluster at a time (CV3: MacKinnon,
Nielsen & Webb 2023). The degrees of freedom of t come from the fourth moments of what each cluster adds to that error
(after Pan & Wall 2002). An effect in fewer than 3/n of all clusters may be missing from a sample of n (rule of three).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ci_eval.core.model import OtherCode
from ci_eval.core.statistics.paired import LEVEL, Limits, Spread, clip_interval
from ci_eval.core.statistics.student import Floats, critical_values

STRETCH = 1.5
"""To test equivalence, the interval is widened by this factor, since a loss in few files looks too small."""
FEWEST_ALIKE = 300
"""The effective clusters needed to call other code equivalent. In simulations, a loss as large as the margin in one
file of sixty was called equivalent in 11 % of comparisons of 100 files, and in up to 4 % with 400 files or more."""


def jackknife(rows: Floats) -> tuple[Floats, Floats]:
    """Return the CV3 variances of the differences (NaN for one cluster), and the effective number of clusters that
    differ, (Σd²)²/Σd⁴. `rows`: see `estimate_other_code`."""
    total = rows.sum(axis=0)
    # CV3 centres on the full-sample estimate, not on the mean of the jackknife's estimates.
    deviations = _difference(total - rows) - _difference(total)
    # A figure that differs in no cluster does not vary, but rounding may leave small deviations.
    deviations[:, (rows[:, :, :2] == rows[:, :, 2:]).all(axis=(0, 2)) & (len(rows) > 1)] = 0
    squares, fourths = (deviations**2).sum(axis=0), (deviations**4).sum(axis=0)
    with np.errstate(invalid="ignore", divide="ignore"):
        return squares * (1 - 1 / len(rows)), np.where(squares > 0, squares**2 / fourths, np.inf)


def estimate_other_code(rows: Floats) -> tuple[Spread, Floats]:
    """Return the differences for other code, and the effective number of clusters of each. `rows` (clusters x figures x
    4): `Sums.total` of each cluster."""
    total, difference = rows.sum(axis=0), _difference(rows.sum(axis=0))
    variance, differing = jackknife(rows)
    effective = count_effective_clusters(rows[:, :, 1] + rows[:, :, 3])
    with np.errstate(invalid="ignore", divide="ignore"):
        # If nothing changed, the error is that of one changed session, with one degree of freedom (about 3/n).
        alike = variance == 0
        error = np.where(alike, 1 / np.minimum(total[:, 1], total[:, 3]), np.sqrt(variance))
        # With half of Pan and Wall's degrees of freedom, intervals were valid in simulations (docs/statistics.md).
        df = np.where(alike, 1, np.minimum(differing, effective - 1))
    return Spread(difference, difference, error, np.maximum(df, 1), np.zeros(len(difference))), effective


def count_effective_clusters(sizes: Floats) -> Floats:
    """Return (Σn)²/Σn² of each column: the number of clusters of equal size with the same information; 0 for zeros."""
    with np.errstate(invalid="ignore", divide="ignore"):
        counts = sizes.sum(axis=0) ** 2 / (sizes**2).sum(axis=0)
    return np.asarray(np.nan_to_num(counts))


def _difference(sums: Floats) -> Floats:
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(sums[..., 2] / sums[..., 3] - sums[..., 0] / sums[..., 1])


def figures(rows: Floats, limits: Sequence[Limits]) -> list[OtherCode]:
    """Return intervals of figures for other code. If a figure has two bounds, the logistic scale is used. A single
    cluster, or equal clusters, give no interval. `rows` (clusters x figures x 2): numerators and denominators."""
    total, effective = rows.sum(axis=0), count_effective_clusters(rows[:, :, 1])
    with np.errstate(invalid="ignore", divide="ignore"):
        values = total[:, 0] / total[:, 1]
        deviations = (total - rows)[:, :, 0] / (total - rows)[:, :, 1] - values
        squares, fourths = (deviations**2).sum(axis=0), (deviations**4).sum(axis=0)
        # A single figure uses all of Pan and Wall's degrees of freedom; a difference uses half of them.
        df = np.maximum(np.minimum(2 * squares**2 / fourths, effective - 1), 1)
    has_interval = np.isfinite(squares) & (fourths > 0)
    reach = critical_values(1 - LEVEL, np.where(has_interval, df, 1)) * np.sqrt(squares * (1 - 1 / max(len(rows), 1)))
    estimates = []
    for index, (lowest, highest) in enumerate(limits):
        value, far = float(values[index]), float(reach[index])
        low, high = None, None
        if has_interval[index]:
            low, high = clip_interval((lowest, highest), value - far, value + far, value)
            # The logit is infinite at both bounds.
            if lowest is not None and highest is not None and lowest < value < highest:
                span = highest - lowest
                share = (value - lowest) / span
                # The logit's derivative 1 / (p (1 - p)) scales the reach (delta method). `min` prevents an overflow.
                odds, factor = share / (1 - share), np.exp(min(far / span / (share * (1 - share)), 300))
                low, high = (lowest + span * float(end / (1 + end)) for end in (odds / factor, odds * factor))
        estimates.append(OtherCode(low=low, high=high, effective=float(effective[index])))
    return estimates
