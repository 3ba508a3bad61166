"""The file of a trained ranker: read as it was written, or refused."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ci_eval.core.base.errors import ConfigError
from ci_eval.core.logs.features import NAMES, SCHEMA
from ci_eval.plugins.learning.model_file import RankerModel, Scores, gain_shares, hash_ranker, lightgbm, load, save

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

    monkeypatch.setattr("ci_eval.plugins.learning.model_file.import_module", fail)
    with pytest.raises(ConfigError, match=said):
        lightgbm()


def test_importance_is_the_share_of_the_gain_the_largest_first() -> None:
    assert list(gain_shares(["a", "b", "c"], [1, 3, 0]).items()) == [("b", 0.75), ("a", 0.25), ("c", 0.0)]
    assert gain_shares(["a"], [0]) == {"a": 0.0}
