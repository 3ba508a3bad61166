"""Training: the same logs give the same model, on however many threads."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pytest

from ci_eval.core.base.errors import ConfigError
from ci_eval.core.logs.features import NAMES
from ci_eval.plugins.learning.training import LookupRows, Settings, train
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
