"""Compute tail probabilities and quantiles of Student's t. Infinite degrees of freedom mean the normal distribution."""

from __future__ import annotations

from functools import lru_cache
from math import erfc, exp, inf, isnan, lgamma, log, log1p, pi, sqrt
from statistics import NormalDist

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]

NORMAL = NormalDist()
_TERMS = 300
_STEPS = 60
_CLOSE = 1e-13
_LARGE = 1e5
"""Degrees of freedom from which t equals the normal distribution to five digits."""
_TINY = 1e-300
_LOWEST, _HIGHEST = -10.0, 60.0
"""Bounds of the logarithm of the number of standard errors."""


def tails(errors: ArrayLike, df: ArrayLike) -> Floats:
    """Return the two-sided probability that |t| is at least `errors` standard errors; arguments are broadcast."""
    # np.vectorize would warn of intermediate overflows, which are harmless here.
    x, v = np.broadcast_arrays(errors, df)
    return np.array(
        [_tail(*arguments) for arguments in zip(x.ravel().tolist(), v.ravel().tolist(), strict=True)]
    ).reshape(x.shape)


def critical_values(tail: ArrayLike, df: ArrayLike) -> Floats:
    """Return the inverse of `tails`, limited to the range from e^-10 to e^60 standard errors."""
    p, v = np.broadcast_arrays(tail, df)
    errors = [_solve(*arguments) for arguments in zip(p.ravel().tolist(), v.ravel().tolist(), strict=True)]
    return np.array(errors).reshape(p.shape)


def _tail(x: float, v: float) -> float:
    if isnan(x) or isnan(v):
        return float("nan")
    if v >= _LARGE:
        return erfc(x / sqrt(2))
    return _incomplete_beta(v / 2, v / (v + x * x)) if x < inf else 0.0


@lru_cache(maxsize=10_000)
def _solve(p: float, v: float) -> float:
    """Solve by Newton's method on logarithms; a step that leaves the bracket is replaced by bisection."""
    low, high, at = _LOWEST, _HIGHEST, 0.0
    # The first guess is Cornish and Fisher's (Abramowitz and Stegun, 26.7.5). If p is 5e-324, p / 2 is 0.
    if 0 < p / 2 < 0.5:
        # The expansion starts at the normal quantile and corrects it for v degrees of freedom.
        z = -NORMAL.inv_cdf(p / 2)
        t = z + (z**3 + z) / (4 * v) + (5 * z**5 + 16 * z**3 + 3 * z) / (96 * v * v)
        at = min(max(log(t), _LOWEST), _HIGHEST) if t > 0 else _LOWEST
    for _ in range(_STEPS):
        x = exp(at)
        tail = _tail(x, v)
        low, high = (at, high) if tail > p else (low, at)
        density = NORMAL.pdf(x) if v >= _LARGE else exp(-log(v) / 2 - _log_beta(v / 2) - (v + 1) / 2 * log1p(x * x / v))
        slope = x * density
        # The derivative of log(tail) with respect to log(errors) is -2 · density · errors / tail.
        step = (log(tail) - log(p)) * tail / (2 * slope) if tail > 0 and p > 0 and slope > 0 else inf
        if abs(step) < _CLOSE:
            break
        # Newton's step may overshoot where the tail is flat; bisection always converges.
        at = at + step if low < at + step < high else (low + high) / 2
    return exp(at)


def _incomplete_beta(a: float, x: float) -> float:
    """Return I_x(a, 1/2), regularised, by Lentz's fraction (Press et al., Numerical Recipes, 6.4)."""
    b = 0.5
    # Beyond this point, the fraction of the complement converges faster (Numerical Recipes, 6.4).
    swapped = x >= (a + 1) / (a + b + 2)
    p, q, y = (b, a, 1 - x) if swapped else (a, b, x)
    if y <= 0:
        return float(swapped)
    c, d = 1.0, _inverse(1 - (p + q) * y / (p + 1))
    fraction = d
    for m in range(1, _TERMS):
        for over in (
            m * (q - m) * y / ((p + 2 * m - 1) * (p + 2 * m)),
            -(p + m) * (p + q + m) * y / ((p + 2 * m) * (p + 2 * m + 1)),
        ):
            d, c = _inverse(1 + over * d), 1 + over / c
            c = c if abs(c) >= _TINY else _TINY
            fraction *= d * c
        if abs(d * c - 1) < 1e-14:
            break
    value = exp(p * log(y) + q * log1p(-y) - log(p) - _log_beta(a)) * fraction
    return min(max(1 - value if swapped else value, 0.0), 1.0)


def _log_beta(a: float) -> float:
    return lgamma(a) + log(pi) / 2 - lgamma(a + 0.5)


def _inverse(value: float) -> float:
    return 1 / (value if abs(value) >= _TINY else _TINY)
