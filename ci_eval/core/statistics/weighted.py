"""The sums over strata that were asked in unequal shares: merged projects, and the classes of a limited sample."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ci_eval.core.statistics.population import Stratum
from ci_eval.core.statistics.student import Floats


def pool(
    sample: Sequence[Stratum], weights: Floats, total: Floats, products: Floats, observed: Floats, *, finite: bool
) -> tuple[Floats, Floats]:
    """Return the sums of products, and the effective numbers of sessions, (Σw)²/Σw² (Kish 1965), with which the
    formulas for a simple sample, of the smallest share that was asked, give the variance of a stratified one.

    `weights`: of an asked session of each stratum. `total` (strata x numbers), `products` (strata x numbers x numbers),
    `observed` (strata x figures): the sums over the asked sessions, those of the products of each two numbers, and the
    sessions in which a figure was observed. The variance is that within the strata, with the correction of each one's
    finite population (Cochran, Sampling Techniques, 5.9); without one if answers may vary, too (not `finite`).
    """
    asked = np.array([stratum.asked for stratum in sample], dtype=np.float64)
    left = np.array([1 - stratum.share if finite else 1.0 for stratum in sample])
    factors = weights**2 * left / (left.max() or 1.0) * (asked + 1) / asked
    # The mean of a few sessions is hardly known, so it counts as that of one session more.
    within = products - total[:, :, None] * total[:, None, :] / (asked + 1)[:, None, None]
    with np.errstate(invalid="ignore"):
        effective = (weights @ observed) ** 2 / (weights**2 @ observed)
    return np.tensordot(factors, within, 1), np.asarray(np.nan_to_num(effective))
