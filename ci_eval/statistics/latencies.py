"""Times counted in bins, so that percentiles of millions need no more memory than those of hundreds."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

BINS = 1_000
LONGEST = 1e6
"""Milliseconds; the bounds of bins differ by 2 %, from 0.01 ms on."""

_RATIO = 1.02
_SMALLEST = 0.01


def binned(values: Floats) -> Floats:
    """How many of the values (ms) are in each bin."""
    places = np.log(np.clip(values, _SMALLEST, LONGEST) / _SMALLEST) / np.log(_RATIO)
    return np.bincount(places.astype(np.intp), minlength=BINS)[:BINS].astype(np.float64)


def quantile_of(counts: Floats, quantile: float) -> float | None:
    """The nearest-rank quantile of what was counted: the middle of its bin, in ms; None of nothing."""
    cumulative = np.cumsum(counts)
    if not cumulative[-1]:
        return None
    rank = max(np.ceil(quantile * cumulative[-1] - 1e-9), 1)
    place = int(np.argmax(cumulative >= rank - 1e-9))
    return float(_SMALLEST * _RATIO ** (place + 0.5))
