"""The file of a trained ranker: read as it was written, or refused."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ci_eval.core.base.errors import ConfigError
from ci_eval.core.logs.features import NAMES, SCHEMA
from ci_eval.plugins.learning.rankers import (
    RankerModel,
    Scores,
    gain_shares,
    hash_ranker,
    lightgbm,
    load,
    open_ranker,
    read_foreign,
    save,
)
from tests.needs import need_module, need_modules

SCORES = Scores(queries=1, top1=0.5, top5=0.5, mrr=0.5)
MODEL = RankerModel(
    schema=SCHEMA, features=NAMES, trained_on=("p",), queries=1, rows=2, label="selected", seed=0, trees=1,
    before=SCORES, after=SCORES, importance={}, booster="trees",
)  # fmt: skip


def test_a_model_is_read_as_it_was_written(tmp_path: Path) -> None:
    save(MODEL, tmp_path / "m.json")
    found = load(tmp_path / "m.json")
    assert (found.booster, found.features, found.after) == (MODEL.booster, NAMES, SCORES)
    assert len(hash_ranker(tmp_path / "m.json")) == 64
    assert hash_ranker(None) == ""


@pytest.mark.parametrize(
    ("key", "value", "said"),
    [
        ("booster", "other", "its trees changed"),
        ("format", 9, "has format 9"),
        ("schema", "0", "trained on other features"),
        ("features", ["x"], "trained on other features"),
        ("trees", "many", "not a model of `ci-eval train-ranker` or `import-ranker`"),
    ],
)
def test_what_is_not_such_a_model_is_refused_with_the_reason(
    tmp_path: Path, key: str, value: object, said: str
) -> None:
    save(MODEL, tmp_path / "m.json")
    found = json.loads((tmp_path / "m.json").read_text())
    (tmp_path / "m.json").write_text(json.dumps(found | {key: value}))
    with pytest.raises(ConfigError, match=said):
        load(tmp_path / "m.json")


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (OSError("libgomp.so.1: cannot open shared object file"), r"libgomp\.so\.1.*apt-get install libgomp1"),
        (ModuleNotFoundError("No module named 'lightgbm'"), r"extra `ml`.*pip install"),
    ],
)
def test_what_lightgbm_lacks_is_named_with_what_installs_it(
    error: Exception, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(name: str) -> None:
        raise error

    monkeypatch.setattr("ci_eval.plugins.learning.rankers.import_module", fail)
    with pytest.raises(ConfigError, match=said):
        lightgbm()


def test_importance_is_the_share_of_the_gain_the_largest_first() -> None:
    assert list(gain_shares(["a", "b", "c"], [1, 3, 0]).items()) == [("b", 0.75), ("a", 0.25), ("c", 0.0)]
    assert gain_shares(["a"], [0]) == {"a": 0.0}


need_module("lightgbm")
SOME = ("prefix_length", "position")
ROWS = np.random.default_rng(0).normal(size=(200, len(NAMES))).astype(np.float32)
LABELS = (ROWS[:, NAMES.index("position")] > 0).astype(int)
SMALL = {"objective": "regression", "verbose": -1, "num_leaves": 4, "num_threads": 1}


def train(names: tuple[str, ...], **options: Any) -> Any:
    """Return a booster that looks at these features."""
    columns = ROWS[:, [NAMES.index(name) for name in names]]
    data = lightgbm().Dataset(columns, LABELS, **{"feature_name": list(names), **options})
    return lightgbm().train(SMALL, data, 3)


@pytest.mark.parametrize("names", [NAMES, SOME], ids=["all features", "some in another order"])
def test_a_file_of_lightgbm_scores_as_it_does_there(names: tuple[str, ...], tmp_path: Path) -> None:
    booster = train(names)
    booster.save_model(tmp_path / "model.txt")
    save(read_foreign(tmp_path / "model.txt"), tmp_path / "model.json")
    model = load(tmp_path / "model.json")
    assert (model.features, model.trees, model.label) == (names, 3, "imported")
    expected = booster.predict(ROWS[:, [NAMES.index(name) for name in names]])
    assert len(set(expected)) > 1
    np.testing.assert_array_equal(open_ranker(model)(ROWS), expected)


def test_names_of_a_file_that_has_none_are_an_option(tmp_path: Path) -> None:
    booster = train(SOME, feature_name="auto")
    booster.save_model(tmp_path / "model.txt")
    with pytest.raises(ConfigError, match="add --features"):
        read_foreign(tmp_path / "model.txt")
    with pytest.raises(ConfigError, match="has 2 features, but --features names 1: name all"):
        read_foreign(tmp_path / "model.txt", ["position"])
    assert read_foreign(tmp_path / "model.txt", SOME).features == SOME


def test_a_feature_that_the_logs_do_not_have_is_refused_with_the_nearest(tmp_path: Path) -> None:
    train(SOME, feature_name=["prefix_lenght", "position"]).save_model(tmp_path / "model.txt")
    with pytest.raises(ConfigError, match=r"no feature 'prefix_lenght'.*prefix_length"):
        read_foreign(tmp_path / "model.txt")
    with pytest.raises(ConfigError, match="--features names others"):
        read_foreign(tmp_path / "model.txt", SOME)


def test_several_scores_for_a_suggestion_are_no_ranker(tmp_path: Path) -> None:
    data = lightgbm().Dataset(ROWS, np.arange(200) % 3, feature_name=list(NAMES))
    lightgbm().train({**SMALL, "objective": "multiclass", "num_class": 3}, data, 1).save_model(tmp_path / "m.txt")
    with pytest.raises(ConfigError, match="gives 3 numbers"):
        read_foreign(tmp_path / "m.txt")


@pytest.mark.parametrize("text", ["", "tree", "tree\nversion=v4\nnum_class=1\ntree_sizes=9\n", "PK\x03\x04"])
def test_what_is_no_model_is_refused(text: str, tmp_path: Path) -> None:
    need_module("onnxruntime")
    (tmp_path / "m").write_text(text)
    with pytest.raises(ConfigError, match=r"not a model that LightGBM can read|neither a model"):
        read_foreign(tmp_path / "m", SOME)


USE = """
import time
from contextlib import suppress
from ci_eval.core.base.errors import ConfigError
from ci_eval.plugins.learning.rankers import _session
with suppress(ConfigError):  # no model, but onnxruntime is imported
    _session(b"", None)
time.sleep(15)  # version 1.32 connects after 9 s
"""


@pytest.mark.slow
def test_a_ranker_in_onnx_connects_to_nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    need_module("onnxruntime")
    monkeypatch.delenv("ORT_DISABLE_TELEMETRY")
    with socket.create_server(("127.0.0.1", 0)) as proxy:
        monkeypatch.setenv("HTTPS_PROXY", f"http://127.0.0.1:{proxy.getsockname()[1]}")
        subprocess.run([sys.executable, "-c", USE], check=True)
        proxy.settimeout(0)
        with pytest.raises(BlockingIOError):
            proxy.accept()


def test_onnx_scores_as_it_does_there(tmp_path: Path) -> None:
    need_modules("onnxruntime", "onnxmltools")
    types = need_module("onnxmltools.convert.common.data_types")
    booster = train(SOME)
    shape = types.FloatTensorType([None, 2])
    converted = need_module("onnxmltools").convert_lightgbm(booster, initial_types=[("x", shape)], zipmap=False)
    path = tmp_path / "model.onnx"
    path.write_bytes(converted.SerializeToString())
    with pytest.raises(ConfigError, match="does not name its features"):
        read_foreign(path)
    with pytest.raises(ConfigError, match="does not accept a table of 3 features"):
        read_foreign(path, [*SOME, "suggestions"])
    converted.metadata_props.add(key="features", value='["prefix_length", "position"]')
    path.write_bytes(converted.SerializeToString())
    save(read_foreign(path), tmp_path / "model.json")
    model = load(tmp_path / "model.json")
    assert (model.features, model.form) == (SOME, "onnx")
    expected = booster.predict(ROWS[:, [NAMES.index(name) for name in SOME]])
    np.testing.assert_allclose(open_ranker(model)(ROWS), expected, atol=1e-4)
