"""A ranker as ONNX scores as LightGBM does, asked of both."""

from __future__ import annotations

import sys

import numpy as np
import pytest

from ci_eval.core.base.errors import ConfigError
from ci_eval.core.logs.features import CATEGORIES, NAMES
from ci_eval.plugins.learning import rankers
from ci_eval.plugins.learning.rankers import RankerModel, lightgbm
from ci_eval.plugins.learning.training import LookupRows, train
from tests.needs import need_modules

runtime, _, _ = need_modules("onnxruntime", "onnxmltools", "lightgbm")

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def lookups() -> LookupRows:
    """Lists of 20, in which a number and a category tell what is right; some values are missing."""
    random = np.random.default_rng(0)
    rows = random.random((600 * 20, len(NAMES)), dtype=np.float32)
    places = [NAMES.index(name) for name in CATEGORIES]
    rows[:, places] = random.integers(0, 12, (len(rows), len(places)))
    signal = rows[:, NAMES.index("length")] + (rows[:, NAMES.index("kind")] % 3 == 1)
    rows[random.random(rows.shape) < 0.05] = np.nan
    return LookupRows(rows, np.full(600, 20), signal.reshape(600, 20).argmax(axis=1), frozenset({"p"}))


@pytest.fixture(scope="module")
def model(lookups: LookupRows) -> RankerModel:
    return train(lookups, lookups, label="expected", seed=0, threads=2)


def test_both_give_the_same_scores_and_order(model: RankerModel, lookups: LookupRows) -> None:
    assert model.importance["kind"] > 0.1, "no tree splits at a category, of which ONNX knows nothing"
    wanted = lightgbm().Booster(model_str=model.booster).predict(lookups.rows)
    session = runtime.InferenceSession(rankers.convert_ranker(model))
    (found,) = session.run(["variable"], {rankers.FEATURES: lookups.rows})
    np.testing.assert_allclose(found.ravel(), wanted, atol=1e-4)
    first = [scores.reshape(-1, 20).argmax(axis=1) for scores in (found.ravel(), wanted)]
    assert (first[0] == first[1]).mean() > 0.999


def test_without_onnxmltools_it_says_what_to_install(model: RankerModel, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "onnxmltools", None)
    with pytest.raises(ConfigError, match=r"pip install '\.\[onnx\]' in a checkout"):
        rankers.convert_ranker(model)
