"""The modelled user: golden values, and that drawing converges to what is computed exactly."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from ci_eval.core.base.errors import ConfigError
from ci_eval.core.config import load
from ci_eval.core.model import UserModelConfig
from ci_eval.core.user_model import (
    PROFILES,
    Emulated,
    Possible,
    UserModel,
    average_behaviour,
    build_user_model,
    decides_by_chance,
    encode_user_model,
)

RANKS = [None, 3, 1, 1, 1, 1]
JETBRAINS = PROFILES["jetbrains"]


def session(model: UserModel, ranks: Sequence[int | None], name: str) -> tuple[bool, bool, int, int]:
    """Selected, cancelled, queries, characters typed."""
    user, queries = Emulated(model, 7, name, len(ranks)), 0
    for typed, rank in enumerate(ranks):
        prefix = "x" * typed
        if user.asks(prefix):
            queries += 1
            if user.takes(rank, prefix):
                return True, False, queries, typed
    return False, user.over, queries, len(ranks)


@pytest.mark.parametrize(
    ("cancel", "saved", "selected", "cancelled"),
    [(0.0, 0.5659, 0.9757, 0.0), (0.1, 0.5093, 0.8538, 0.1314)],
    ids=["never gives up", "gives up"],
)
def test_the_expectation_of_the_reference_comes_out(
    cancel: float, saved: float, selected: float, cancelled: float
) -> None:
    behaviour = average_behaviour(RANKS, replace(JETBRAINS, cancel=(cancel,)))
    assert behaviour.saved == pytest.approx(saved, abs=5e-5)
    assert behaviour.selected == pytest.approx(selected, abs=5e-5)
    assert behaviour.cancelled == pytest.approx(cancelled, abs=1e-4)
    assert behaviour.typed == pytest.approx(len(RANKS) * (1 - saved), abs=5e-4)


@pytest.mark.parametrize("profile", PROFILES)
@pytest.mark.parametrize("ranks", [RANKS, [None] * 4, [1], [9, 4, 2], [2, 1, 1, None, 1, 5, 1]], ids=str)
def test_ten_thousand_draws_converge_to_the_expectation(profile: str, ranks: list[int | None]) -> None:
    model = PROFILES[profile]
    drawn = [session(model, ranks, f"{profile} {number}") for number in range(10_000)]
    exact = average_behaviour(ranks, model)
    means = [sum(column) / len(drawn) for column in zip(*drawn, strict=True)]
    wanted = [exact.selected, exact.cancelled, exact.queries, exact.typed]
    # Four standard errors of 10,000 draws: of a share at most 0.02, of numbers up to the length as many times that.
    for mean, value, width in zip(means, wanted, (1, 1, len(ranks), len(ranks)), strict=True):
        assert mean == pytest.approx(value, abs=0.02 * width)


@pytest.mark.parametrize("profile", PROFILES)
@pytest.mark.parametrize("ranks", [RANKS, [None] * 4, [1], [2, 1, 1, None, 1, 5, 1]], ids=str)
def test_what_may_happen_adds_up_to_the_expectation(profile: str, ranks: list[int | None]) -> None:
    possible, asked = Possible(PROFILES[profile], len(ranks)), []
    for typed, rank in enumerate(ranks):
        if possible.asks("x" * typed):
            possible.sees(rank, "x" * typed)
            asked.append(typed)
    courses, exact = possible.courses(), average_behaviour(ranks, PROFILES[profile])
    assert sum(course.share for course in courses) == pytest.approx(1)
    taken = [course for course in courses if course.taken]
    assert sum(course.share for course in taken) == pytest.approx(exact.selected)
    saved = sum(course.share * (1 - asked[course.end - 1] / len(ranks)) for course in taken)
    assert saved == pytest.approx(exact.saved)
    assert sum(course.share * (course.end - course.first) for course in courses) == pytest.approx(exact.queries)


@pytest.mark.parametrize(("profile", "chance"), [("always", False), ("first", False), ("thesis", True)])
def test_a_user_who_does_nothing_by_chance_is_told_from_others(profile: str, chance: bool) -> None:
    assert decides_by_chance(encode_user_model(PROFILES[profile])) is chance


def test_always_takes_it_as_soon_as_it_is_there_and_first_asks_once() -> None:
    assert session(PROFILES["always"], [None, 9, 1], "s") == (True, False, 2, 1)
    assert session(PROFILES["first"], [1, 1], "s") == (True, False, 1, 0)
    assert session(PROFILES["first"], [2, 1], "s") == (False, True, 1, 2)


def test_the_same_session_meets_the_same_user_whatever_was_asked_before() -> None:
    ranks = [[None, 3, 1, 1], [None, 3, 1, 1]]
    assert session(JETBRAINS, ranks[0], "a") == session(JETBRAINS, ranks[1], "a")
    starts = {JETBRAINS.start(draw / 100, 9) for draw in range(100)}
    assert starts == {1, 2}


def test_columns_count_lookups_or_as_in_the_plugin_characters() -> None:
    assert JETBRAINS.selects(1, lookup=0, prefix=2) == 0.5
    assert replace(JETBRAINS, index="prefix").selects(1, lookup=0, prefix=2) == 0.6
    assert JETBRAINS.selects(1, lookup=9, prefix=0) == 0.7
    assert JETBRAINS.selects(50, lookup=3, prefix=0) == 0.1
    assert JETBRAINS.selects(None, lookup=0, prefix=0) == 0.0


@given(draw=st.floats(0, 1, exclude_max=True), length=st.integers(1, 6))
def test_the_first_query_never_comes_after_the_whole_token(draw: float, length: int) -> None:
    model = UserModel(first_prefix=(0.1, 0.2, 0.3, 0.4), select=((0.5,),))
    assert 0 <= model.start(draw, length) < length
    assert sum(model.starts(length)) == pytest.approx(1)


def test_tables_of_the_configuration_take_the_place_of_the_profiles() -> None:
    config = load(None, overrides=["interpret.userModel={profile: thesis, cancel: [0.5], attend: 0.25}"]).config
    assert config.interpret.user_model
    model = build_user_model(config.interpret.user_model)
    assert (model.cancel, model.attend, model.select) == ((0.5,), 0.25, JETBRAINS.select)
    assert config.actions.strategy.prefix.name == "EveryPrefix"


def test_a_profile_may_be_named_in_short_and_prefix_strategies_give_way() -> None:
    loaded = load(None, overrides=["actions.strategy.prefix={name: SimplePrefix, n: 1}", "interpret.userModel=first"])
    assert loaded.config.interpret.user_model == UserModelConfig(profile="first")
    assert loaded.config.actions.strategy.prefix.name == "EveryPrefix"
    assert "the modelled user decides" in " ".join(loaded.warnings)


@pytest.mark.parametrize(
    ("given_model", "words"),
    [
        ("{firstPrefix: [0.5, 0.4]}", "sums to 0.9"),
        ("{select: []}", "select"),
        ("{select: [[0.5], []]}", "select"),
        ("{cancel: [1.5]}", "cancel"),
        ("{profile: jetbrain}", "profile"),
        ("{frstPrefix: [1]}", "firstPrefix"),
    ],
)
def test_tables_that_are_no_probabilities_are_refused(given_model: str, words: str) -> None:
    with pytest.raises(ConfigError, match=words):
        load(None, overrides=[f"interpret.userModel={given_model}"])
