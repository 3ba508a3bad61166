"""The engine that answers from a trained recommender."""

from __future__ import annotations

from pathlib import Path

import pytest

from ci_eval.core.base.errors import ConfigError, EngineRaised
from ci_eval.core.catalogs import engines
from ci_eval.core.contracts import Configurable, Query, Surroundings
from ci_eval.core.model import Record
from tests.learning.recommenders.trained import FIGURE_3, T, trained, usage

ENGINE = engines.CATALOG.load("recommender")


def surroundings(folder: Path) -> Surroundings:
    return Surroundings(
        root=folder, language="python", keywords=frozenset(), cache=folder / "cache", timeout=1, memory=0
    )


def answered(folder: Path, calls: str = "", **options: object) -> str:
    assert isinstance(ENGINE, Configurable)
    engine = ENGINE.configured({"model": str(folder / "pbn.model"), **options})
    running = engine.start(engine.install(None, folder), surroundings(folder))
    asked = Query(offset=0, prefix="", expected="", record=Record(queries=(usage(calls),)))
    answer = running.complete(asked)
    running.close()
    assert answer.latency >= 0
    return "\n".join(each.text for each in answer.suggestions)


def test_proposals_are_lines_with_scores_the_likeliest_first(tmp_path: Path) -> None:
    trained(tmp_path, "pbn", T)
    assert answered(tmp_path) == "m1\t1.0000\nm2\t0.6250"
    assert answered(tmp_path, threshold=0.7) == "m1\t1.0000"
    assert answered(tmp_path, threshold=1) == ""


def test_an_unknown_definition_may_be_ignored(tmp_path: Path) -> None:
    trained(tmp_path, "pbn", [*T, *[usage("m4")] * 5])
    assert answered(tmp_path) == "m4\t1.0000"
    assert answered(tmp_path, unknownDefinition="ignore").startswith("m1")


def test_the_version_names_kind_model_and_options(tmp_path: Path) -> None:
    trained(tmp_path, "pbn", FIGURE_3)
    assert isinstance(ENGINE, Configurable)
    engine = ENGINE.configured({"model": str(tmp_path / "pbn.model"), "threshold": 0.5})
    info = engine.install(None, tmp_path).info
    assert "(pbn, model " in info.version
    assert info.version.endswith(", threshold 0.5)")
    assert "12 usages of 1 types" in info.packages["pbn model"]


def test_what_is_no_model_or_no_option_is_refused(tmp_path: Path) -> None:
    assert isinstance(ENGINE, Configurable)
    with pytest.raises(ConfigError, match="needs a model"):
        ENGINE.install(None, tmp_path)
    with pytest.raises(ConfigError, match="known are model, threshold, unknownDefinition"):
        ENGINE.configured({"limit": 3})
    with pytest.raises(ConfigError, match="cannot read"):
        ENGINE.configured({"model": str(tmp_path / "none")}).install(None, tmp_path)


def test_records_of_other_tasks_are_no_queries(tmp_path: Path) -> None:
    trained(tmp_path, "pbn", T)
    assert isinstance(ENGINE, Configurable)
    engine = ENGINE.configured({"model": str(tmp_path / "pbn.model")})
    running = engine.start(engine.install(None, tmp_path), surroundings(tmp_path))
    with pytest.raises(EngineRaised, match="--task method-calls"):
        running.complete(Query(offset=0, prefix="", expected="", record=Record(context={"a": "b"})))
