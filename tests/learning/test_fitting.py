"""Tables are recovered from what users with known tables did."""

from __future__ import annotations

import random

import pytest

from ci_eval.core.user_model import PROFILES, Emulated
from ci_eval.plugins.learning.fitting import ShownList, fit_user


def lived(name: str, sessions: int) -> list[ShownList]:
    """What a user of that profile did in sessions with lists of chance."""
    chance, queries = random.Random(5), []
    for number in range(sessions):
        user, asked = Emulated(PROFILES[name], 3, str(number), 8), 0
        for typed in range(8):
            rank = chance.choice([None, 1, 1, 2, 3, 4, 5, 9])
            prefix = "x" * typed
            if not user.asks(prefix):
                continue
            taken = user.takes(rank, prefix)
            outcome = "selected" if taken else "cancelled" if user.over else "typed"
            queries.append(ShownList(str(number), asked, typed, rank, outcome))
            asked += 1
    return queries


def test_the_tables_of_the_thesis_user_come_back() -> None:
    model, profile = fit_user(lived("thesis", 40_000)).model, PROFILES["thesis"]
    assert model.first_prefix == pytest.approx(profile.first_prefix, abs=0.01)
    for place, row in enumerate(model.select):
        for order, value in enumerate(row):
            assert value == pytest.approx(profile.selects(place + 1, order, 0), abs=0.06)
    assert model.cancel == pytest.approx(profile.cancel, abs=0.03)


def test_without_data_the_estimates_are_the_prior() -> None:
    fit = fit_user([ShownList("a", 0, 2, 1, "selected")])
    assert fit.model.first_prefix == (0.0, 0.0, 1.0)
    assert fit.model.select[0][0] == pytest.approx(2 / 5)
    assert fit.model.select[3] == (0.25,) * 5
    assert fit.model.cancel == (0.05,) * 5
    assert fit.shown == (1, 0, 0, 0, 0, 0)


def test_the_first_query_that_was_logged_counts_as_the_first() -> None:
    fit = fit_user(
        [ShownList("a", 3, 4, None, "typed"), ShownList("a", 2, 3, None, "typed"), ShownList("b", 0, 1, 1, "selected")]
    )
    assert fit.model.first_prefix == (0.0, 0.5, 0.0, 0.5)
    assert (fit.sessions, fit.queries) == (2, 3)
