"""The times counted in bins: percentiles of millions of times take no more memory than those of hundreds."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

BINS = 1_000
LONGEST = 1e6
"""The upper bound of the last bin in milliseconds. The first bin begins at 0.01 ms, and each bound is 2 % above the one
before."""

_RATIO = 1.02
_SMALLEST = 0.01


def bin_latencies(values: Floats) -> Floats:
    """Return how many of the values (ms) are in each of the BINS bins. Shorter and longer times are counted in the
    first and last bin."""
    indices = np.log(np.clip(values, _SMALLEST, LONGEST) / _SMALLEST) / np.log(_RATIO)
    return np.bincount(indices.astype(np.intp), minlength=BINS)[:BINS].astype(np.float64)


def estimate_quantile(counts: Floats, quantile: float) -> float | None:
    """Return the nearest-rank quantile (ms) of the values counted, as the middle of its bin; None if nothing was
    counted."""
    cumulative = np.cumsum(counts)
    if not cumulative[-1]:
        return None
    # Rounding must not raise the rank by one, for example if 0.07 · 100 is 7.000000000000001.
    rank = max(np.ceil(quantile * cumulative[-1] - 1e-9), 1)
    index = int(np.argmax(cumulative >= rank - 1e-9))
    return float(_SMALLEST * _RATIO ** (index + 0.5))
