"""Student's t against scipy."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from ci_eval.core.statistics.student import critical_values, tails


@pytest.mark.parametrize(
    ("errors", "df", "tail"),
    [
        (2.0, 1.0, 0.2951672353008665),
        (2.0, 3.7, 0.12181720190523398),
        (0.01, 59.0, 0.9920550245817672),
        (30.0, 10.0, 3.961792342031325e-11),
        (1.96, 1e6, 0.04999606758526985),
    ],
)
def test_tails_are_those_of_scipy(errors: float, df: float, tail: float) -> None:
    """Recorded: scipy 1.17 `2 * stats.t.sf(errors, df)`."""
    assert tails(errors, df) == pytest.approx(tail, rel=1e-5)


@pytest.mark.parametrize("df", [0.5, 1.0, 2.5, 59.0, np.inf])
def test_errors_at_a_tail_have_that_tail(df: float) -> None:
    probabilities = np.array([0.9, 0.05, 0.001])
    assert tails(critical_values(probabilities, df), df) == pytest.approx(probabilities, rel=1e-9)


@given(st.floats(0, 1), st.floats(0.1, 1e6) | st.just(np.inf))
@example(5e-324, np.inf)
@example(0.0, 1.0)
@example(1.0, np.inf)
def test_there_are_errors_at_every_tail(tail: float, df: float) -> None:
    quantile = float(critical_values(tail, df))
    assert np.exp(-10) <= quantile <= np.exp(60) * (1 + 1e-9)
    nearest = np.clip(tail, *tails([np.exp(60), np.exp(-10)], df))
    assert tails(quantile, df) == pytest.approx(nearest, rel=1e-6, abs=1e-300)


def test_without_end_of_freedom_t_is_normal() -> None:
    assert critical_values(0.05, np.inf) == pytest.approx(1.959963985, rel=1e-5)
