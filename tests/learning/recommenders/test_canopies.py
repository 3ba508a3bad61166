"""Canopies, against their definition."""

from __future__ import annotations

from math import sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ci_eval.plugins.learning.recommenders.canopies import canopies


def plain(sets: list[frozenset[int]], t1: float, t2: float) -> list[list[int]]:
    """The same, one distance after the other."""
    left, found = list(range(len(sets))), []
    while left:
        centre = left[0]
        distance = {
            each: 1 - len(sets[centre] & sets[each]) / sqrt(len(sets[centre]) * len(sets[each])) for each in left
        }
        found.append([each for each in left if each == centre or distance[each] < t1])
        left = [each for each in left if each != centre and distance[each] >= t2]
    return found


def of(sets: list[frozenset[int]], t1: float, t2: float) -> list[list[int]]:
    starts = np.cumsum([0, *map(len, sets)])
    flat = np.array([number for each in sets for number in sorted(each)], dtype=np.int64)
    owner, member = canopies(starts, flat, t1, t2)
    return [member[owner == number].tolist() for number in range(int(owner.max(initial=-1)) + 1)]


@given(
    st.lists(st.frozensets(st.integers(0, 11), min_size=1), unique=True, max_size=25),
    st.sampled_from([(0.001, 0.002), (0.1, 0.101), (0.3, 0.301), (0.3, 0.6), (0.9, 1.0)]),
)
def test_they_are_what_the_definition_says(sets: list[frozenset[int]], distances: tuple[float, float]) -> None:
    t2, t1 = distances
    assert of(sets, t1, t2) == plain(sets, t1, t2)


@pytest.mark.parametrize(("t1", "t2", "found"), [(0.301, 0.3, [[0, 1], [2]]), (0.101, 0.1, [[0], [1], [2]])])
def test_golden_canopies(t1: float, t2: float, found: list[list[int]]) -> None:
    assert of([frozenset({0, 1, 2}), frozenset({0, 1}), frozenset({3})], t1, t2) == found


def test_no_sets_make_no_canopy() -> None:
    assert of([], 0.1, 0.1) == []
