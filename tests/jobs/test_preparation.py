"""What a configuration names is sent to worker processes."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import pytest

from ci_eval.ci import Screen
from ci_eval.core.base.errors import ConfigError
from ci_eval.core.catalogs import engines
from ci_eval.core.config import Config
from ci_eval.core.config.schema import EngineConfig
from ci_eval.jobs.preparation import at_newest, load_engine
from ci_eval.plugins.engines.jedi import Jedi
from tests.command import command
from tests.projects import write


@pytest.mark.parametrize("name", engines.CATALOG.names())
def test_an_engine_stays_the_same_on_its_way_to_a_worker(name: str) -> None:
    # A worker keeps its engine for the next file as long as the one asked for is equal.
    engine = load_engine(Config(engine=EngineConfig(name=name)))
    assert pickle.loads(pickle.dumps(engine)) == engine


@pytest.mark.parametrize(
    "given",
    [
        {"name": "ngram", "options": {"order": 3}},
        {"name": "recommender", "options": {"model": "m"}},
        {"command": ("server", "{root}"), "settings": {"a": {"b": 1}}},
        {"command": ("server",), "like": "clangd", "environment": {"A": "b"}},
        {"name": "pylsp", "settings": {"a": {"b": 1}}, "arguments": ("--x",)},
        {"endpoint": "http://127.0.0.1:1/v1", "model": "m"},
    ],
)
def test_so_does_one_that_is_configured(given: dict[str, Any]) -> None:
    engine = load_engine(Config(engine=EngineConfig(**given)))
    assert pickle.loads(pickle.dumps(engine)) == engine


def test_the_newest_version_is_asked_for_once_said_and_kept(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(Jedi, "newest", lambda _: "7.8.9")
    config = Config(engine=EngineConfig(version="latest"))
    newest = at_newest(config, load_engine(config), Screen())
    assert newest.engine.version == "7.8.9"
    assert "jedi@latest: jedi@7.8.9, the newest" in capsys.readouterr().err
    assert at_newest(newest, load_engine(newest), Screen()) is newest
    own = Config(engine=EngineConfig(name="words", version="latest"))
    with pytest.raises(ConfigError, match="comes with ci-eval and has no latest version"):
        at_newest(own, load_engine(own), Screen())


def test_engines_of_other_options_differ() -> None:
    third, usual = (load_engine(Config(engine=EngineConfig(name="ngram", options=each))) for each in ({"order": 3}, {}))
    assert third != usual


def test_an_engine_of_another_language_is_refused_with_what_to_add(tmp_path: Path) -> None:
    project = write(tmp_path / "p", a__py="x = 1\n")
    code, _, err = command("evaluate", "--engine", "gopls", "--project", f"path:{project}", "--output", tmp_path / "w")
    assert (code, "add `--language go`" in " ".join(err.split())) == (2, True)
