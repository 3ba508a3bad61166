"""The runs of words that two texts have in common: the two parts of CodeBLEU that look at the text alone."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence

ORDERS = (1, 2, 3, 4)
MISSED = 0.1
"""The number that counts in place of no match at all ("method 1" of Chen and Cherry, 2014)."""

Fraction = tuple[float, float]
"""A pair of numbers: the matches, and all runs."""


def count_ngrams(words: Sequence[str], order: int) -> Counter[tuple[str, ...]]:
    """Return how often each run of so many words is in the text."""
    return Counter(zip(*(words[first:] for first in range(order))))  # noqa: B905  the shortest ends it


def brevity(expected: int, given: int) -> float:
    """Return the factor below 1 for a text of fewer words than expected."""
    if given > expected:
        return 1.0
    return math.exp(1 - expected / given) if given else 0.0


def mean(fractions: Iterable[Fraction], penalty: float) -> float:
    """Return the geometric mean of the fractions times the penalty, or 0 if not even a word is common."""
    parts = list(fractions)
    if not parts or not parts[0][0]:
        return 0.0
    return penalty * math.exp(math.fsum(math.log((part or MISSED) / whole) for part, whole in parts) / len(parts))
