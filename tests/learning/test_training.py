"""Training: the same logs give the same model, on however many threads."""

from __future__ import annotations

import random
import re

import numpy as np
import pytest
from msgspec.structs import replace

from ci_eval.core.base.errors import ConfigError
from ci_eval.core.logs.features import NAMES
from ci_eval.core.user_model import PROFILES, Emulated
from ci_eval.plugins.learning.training import LookupRows, Settings, ShownList, fit_user, train
from tests.needs import need_module


@pytest.fixture(scope="module", autouse=True)
def _lightgbm() -> None:
    # Not at the top: the import takes more than a second, also in processes that collect this file and run none of it.
    need_module("lightgbm")


def queries(count: int, seed: int) -> LookupRows:
    """Lists of 50 rows; which one is right can be told by some of the features, more or less."""
    random = np.random.default_rng(seed)
    rows = random.exponential(size=(count * 50, len(NAMES))).round(2).astype(np.float32)
    signal = rows[:, 17] - rows[:, 18] * rows[:, 21] + 0.2 * random.normal(size=len(rows))
    return LookupRows(rows, np.full(count, 50), signal.reshape(count, 50).argmax(axis=1), frozenset({"p"}))


def test_the_model_does_not_depend_on_the_number_of_threads() -> None:
    learned, checked = queries(600, 1), queries(200, 2)
    models = [train(learned, checked, label="expected", seed=0, threads=threads) for threads in (1, 2, 5)]
    assert models[0].trees > 10
    assert models[0] == models[1] == models[2]


def test_trees_leaves_and_features_can_be_chosen() -> None:
    learned, checked = queries(600, 1), queries(200, 2)
    chosen = Settings(trees=5, leaves=4, features=(NAMES[17], NAMES[18]))
    model = train(learned, checked, label="expected", seed=0, threads=2, settings=chosen)
    usual = train(learned, checked, label="expected", seed=0, threads=2)
    assert model.trees <= 5
    assert {name for name, share in model.importance.items() if share} <= set(chosen.features)
    assert max(map(int, re.findall(r"^num_leaves=(\d+)$", model.booster, re.MULTILINE))) <= 4
    assert model.before == usual.before
    assert model.after.top1 < usual.after.top1


def test_each_kind_has_figures_of_its_own_which_add_up_to_those_of_all() -> None:
    learned, checked = queries(600, 1), queries(200, 2)
    kinds = np.arange(len(checked.rows)) % 3 == 0
    checked.rows[:, NAMES.index("kind")] = np.where(kinds, 1, 4)
    model = train(learned, checked, label="expected", seed=0, threads=2)
    assert set(model.kinds) == {"method", "field"}
    assert [each.after.queries for each in model.kinds.values()] == sorted(
        (each.before.queries for each in model.kinds.values()), reverse=True
    )
    right = sum(each.after.queries * each.after.top1 for each in model.kinds.values())
    assert right / model.after.queries == pytest.approx(model.after.top1)
    before = sum(each.before.queries * each.before.mrr for each in model.kinds.values())
    assert before / model.after.queries == pytest.approx(model.before.mrr)


def test_of_features_of_others_no_kinds_are_told() -> None:
    lookups = replace(queries(600, 1), schema="another")
    assert train(lookups, lookups, label="expected", seed=0, threads=2).kinds == {}


def test_a_feature_that_there_is_not_is_named() -> None:
    lookups = queries(60, 1)
    with pytest.raises(ConfigError, match="did you mean position"):
        train(lookups, lookups, label="expected", seed=0, threads=1, settings=Settings(features=("positon",)))


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
