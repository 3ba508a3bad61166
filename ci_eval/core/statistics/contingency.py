"""The comparison of two samples of categories: total variation, and the chi-square test."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import exp, lgamma, log

LEAST = 5.0
"""The expected count below which categories are pooled (Cochran's rule)."""
TERMS = 10_000
ENOUGH = 1e-15
TINY = 1e-300


@dataclass(frozen=True, kw_only=True)
class ChiSquare:
    """The result of Pearson's test that both samples have one distribution. The test assumes independent
    observations."""

    statistic: float
    df: int
    p: float


def total_variation(first: Mapping[str, int], second: Mapping[str, int]) -> float | None:
    """Return half the sum of the differences of shares, from 0 (the same shares) to 1 (no category in common), or None
    if a sample is empty."""
    sizes = sum(first.values()), sum(second.values())
    if not all(sizes):
        return None
    # In integers, which are the same in any order of the categories.
    difference = sum(abs(first.get(key, 0) * sizes[1] - second.get(key, 0) * sizes[0]) for key in {*first, *second})
    return difference / (2 * sizes[0] * sizes[1])


def chi_square(first: Mapping[str, int], second: Mapping[str, int]) -> ChiSquare | None:
    """Return the result of the chi-square test, or None if fewer than two categories are left. Rare categories, of
    which fewer than LEAST are expected in a sample, are pooled."""
    pairs = _pool(first, second)
    sizes = sum(a for a, _ in pairs), sum(b for _, b in pairs)
    if len(pairs) < 2 or not all(sizes):
        return None
    whole = sum(sizes)
    statistic = 0.0
    for pair in pairs:
        for count, size in zip(pair, sizes, strict=True):
            expected = sum(pair) * size / whole
            # Pooling leaves no category that is 0 in both samples, so no expected count is 0.
            statistic += (count - expected) ** 2 / expected
    # A table of k categories and two samples has (k - 1) · (2 - 1) degrees of freedom.
    df = len(pairs) - 1
    return ChiSquare(statistic=statistic, df=df, p=upper_tail(statistic, df))


def _pool(first: Mapping[str, int], second: Mapping[str, int]) -> list[tuple[int, int]]:
    """Return the counts of each category in both samples, with the rare categories pooled."""
    pairs = sorted(
        ((first.get(key, 0), second.get(key, 0)) for key in {*first, *second}), key=lambda pair: (sum(pair), pair)
    )
    sizes = sum(first.values()), sum(second.values())
    # The smaller sample has the smaller expected counts, so that sample alone decides.
    least = min(sizes) / max(sum(sizes), 1)
    rare = (0, 0)
    while pairs and (sum(pairs[0]) * least < LEAST or 0 < sum(rare) * least < LEAST):
        rare = rare[0] + pairs[0][0], rare[1] + pairs[0][1]
        pairs = pairs[1:]
    return [*pairs, rare] if sum(rare) else pairs


def upper_tail(statistic: float, df: int) -> float:
    """Return the probability that a chi-square variable with `df` degrees of freedom exceeds `statistic`.

    The value is the regularised upper incomplete gamma function, by its series or its continued fraction (Lentz),
    whichever converges.
    """
    a, x = df / 2, statistic / 2
    if x <= 0:
        return 1.0
    # Logarithms, since the gamma function overflows from about 171 on.
    scale = exp(a * log(x) - x - lgamma(a))
    # The series converges fast below a + 1, the fraction above (Press et al., Numerical Recipes, 6.2).
    return 1 - scale * _series(a, x) if x < a + 1 else scale * _fraction(a, x)


def _series(a: float, x: float) -> float:
    term = total = 1 / a
    for n in range(1, TERMS):
        term *= x / (a + n)
        total += term
        if term < total * ENOUGH:
            break
    return total


def _fraction(a: float, x: float) -> float:
    b = x + 1 - a
    c, d = 1 / TINY, 1 / b
    value = d
    for n in range(1, TERMS):
        numerator = -n * (n - a)
        b += 2
        # Lentz replaces a zero denominator by a tiny number.
        d = 1 / (numerator * d + b or TINY)
        c = b + numerator / c or TINY
        step = c * d
        value *= step
        if abs(step - 1) < ENOUGH:
            break
    return value
