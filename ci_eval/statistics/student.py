"""Tail probabilities and quantiles of Student's t, for any degrees of freedom; infinite ones are the normal's."""

from __future__ import annotations

from math import erfc, lgamma, log, pi, sqrt
from statistics import NormalDist

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]

NORMAL = NormalDist()
_TERMS = 300
_STEPS = 60
_CLOSE = 1e-13
_LARGE = 1e5
"""Degrees of freedom from which on t equals the normal distribution to five digits."""


def tails(errors: ArrayLike, df: ArrayLike) -> Floats:
    """Probability (two-sided) that |t| is at least `errors` standard errors; arguments are broadcast."""
    x, v = (np.asarray(each, dtype=np.float64) for each in np.broadcast_arrays(errors, df))
    found = np.array([erfc(each / sqrt(2)) for each in x.ravel()]).reshape(x.shape)
    if np.any(finite := v < _LARGE):
        v = np.where(finite, v, 1.0)
        found = np.where(finite, _incomplete_beta(v / 2, v / (v + x * x)), found)
    return found


def errors_at(tail: ArrayLike, df: ArrayLike) -> Floats:
    """The number of standard errors that |t| exceeds with probability `tail`: the inverse of `tails`, from e^-10 to
    e^60.

    By Newton's method, of logarithms, in which the curve is nearly straight; halved where that leads out of what is
    known to hold it.
    """
    p, v = (np.asarray(each, dtype=np.float64) for each in np.broadcast_arrays(tail, df))
    low, high, at = np.full(p.shape, -10.0), np.full(p.shape, 60.0), np.zeros(p.shape)
    for _ in range(_STEPS):
        found, slope = tails(np.exp(at), v), np.exp(at) * _density(np.exp(at), v)
        low, high = np.where(found > p, at, low), np.where(found > p, high, at)
        with np.errstate(divide="ignore", invalid="ignore"):
            step = (np.log(found) - np.log(p)) * found / (2 * slope)
        inside = (at + step > low) & (at + step < high)
        moved = np.where(np.abs(step) < _CLOSE, at, np.where(inside, at + step, (low + high) / 2))
        if np.all(np.abs(moved - at) < _CLOSE):
            break
        at = moved
    return np.asarray(np.exp(at))


def _density(x: Floats, v: Floats) -> Floats:
    """Of t."""
    finite = np.where(v < _LARGE, v, 1.0)
    front = np.log(finite) / 2 + _log_beta(finite / 2)
    of_t = -front - (finite + 1) / 2 * np.log1p(x * x / finite)
    return np.asarray(np.exp(np.where(v < _LARGE, of_t, -x * x / 2 - log(2 * pi) / 2)))


def _incomplete_beta(a: Floats, x: Floats) -> Floats:
    """I_x(a, 1/2), regularised, by the continued fraction of Lentz (Press et al., Numerical Recipes, 6.4)."""
    b = np.full(a.shape, 0.5)
    swapped = x >= (a + 1) / (a + b + 2)
    p, q, y = np.where(swapped, b, a), np.where(swapped, a, b), np.where(swapped, 1 - x, x)
    with np.errstate(divide="ignore"):
        log_front = p * np.log(y) + q * np.log1p(-y) - np.log(p) - _log_beta(a)
    value = np.exp(log_front) * _fraction(p, q, y)
    return np.asarray(np.clip(np.where(swapped, 1 - value, value), 0.0, 1.0))


def _log_beta(a: Floats) -> Floats:
    """Logarithm of the beta function B(a, 1/2)."""
    logs = [lgamma(each) + log(pi) / 2 - lgamma(each + 0.5) for each in a.ravel()]
    return np.array(logs).reshape(a.shape)


def _fraction(p: Floats, q: Floats, y: Floats) -> Floats:
    tiny = 1e-300
    c, d = np.ones(p.shape), 1 - (p + q) * y / (p + 1)
    d = 1 / np.where(np.abs(d) < tiny, tiny, d)
    found = d
    for m in range(1, _TERMS):
        for over in (
            m * (q - m) * y / ((p + 2 * m - 1) * (p + 2 * m)),
            -(p + m) * (p + q + m) * y / ((p + 2 * m) * (p + 2 * m + 1)),
        ):
            d, c = 1 + over * d, 1 + over / c
            d = 1 / np.where(np.abs(d) < tiny, tiny, d)
            c = np.where(np.abs(c) < tiny, tiny, c)
            found = found * d * c
        if np.all(np.abs(d * c - 1) < 1e-14):
            break
    return found
