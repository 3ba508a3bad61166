"""The best of several looks better than it is."""

from __future__ import annotations

import numpy as np
import pytest

from ci_eval.model import Difference
from ci_eval.statistics.selection import bias_text, largest_of, winners_bias


@pytest.mark.parametrize(("count", "expected"), [(1, 0), (2, 0.5642), (3, 0.8463), (5, 1.1630), (8, 1.4236)])
def test_the_largest_of_several_normal_variables(count: int, expected: float) -> None:
    """Harter 1961, "Expected values of normal order statistics", table 1."""
    assert largest_of(count) == pytest.approx(expected, abs=2e-4)


def test_the_bias_of_the_winner_is_that_of_simulated_winners() -> None:
    random = np.random.default_rng(2)
    shared, error = random.normal(0, 3, (20_000, 1)), 0.6
    overestimated = (shared + random.normal(0, error, (20_000, 5))).max(axis=1) - shared[:, 0]
    reach = 1.96 * error * 2**0.5
    pair = Difference(base=0, new=0, difference=0, low=-reach, high=reach, detectable=reach + 0.8416 * error * 2**0.5)
    assert winners_bias([pair] * 10, 5) == pytest.approx(overestimated.mean(), rel=0.02)


def test_of_two_or_where_all_is_exact_there_is_nothing_to_say() -> None:
    exact = Difference(base=0, new=0, difference=0, low=0, high=0, state="exact")
    assert winners_bias([exact], 5) is None
    assert bias_text(None, 5, "share") == ""


def test_the_sentence_names_the_size_and_what_to_do() -> None:
    said = bias_text(0.0071, 5, "share")
    assert "if all 5 evaluations were equally good, the best one would look about 0.71 points better" in said
    assert "another interpret.seed" in said
