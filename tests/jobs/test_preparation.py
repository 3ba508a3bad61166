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
from ci_eval.core.workspace import Workspace
from ci_eval.jobs.preparation import at_newest, load_engine
from ci_eval.plugins.engines.jedi import Jedi
from tests.command import command
from tests.projects import sessions, write


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
    assert "jedi@latest is jedi@7.8.9, the newest version" in capsys.readouterr().err
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


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (("--language", "go", "--engine", "words"), "have no effect on Go: remove them"),
        (("--set", "project.sourceRoots=[..]"), "'..' is not a folder of the project"),
        (("--set", "project.sourceRoots=[a.py]"), "'a.py' is not a folder of the project"),
    ],
)
def test_source_roots_that_cannot_be_are_refused(tmp_path: Path, more: tuple[str, ...], said: str) -> None:
    project = write(tmp_path / "p", a__py="x = 1\n", a__go="package a\n")
    asked = ("evaluate", "--project", f"path:{project}", "--set", "project.sourceRoots=[.]", *more)
    code, _, err = command(*asked, "--output", tmp_path / "o")
    assert (code, said in " ".join(err.split())) == (2, True), err


def test_what_lies_in_a_source_root_is_seen_and_resolved(tmp_path: Path) -> None:
    files = {"lib/store.py": "cost = 1\n", "app/a.py": "import store\n\nprint(store.cost)\n"}
    project = write(tmp_path / "p", **files)
    asked = ("evaluate", "--project", f"path:{project}", "--all", "--jobs", 1, "--engine", "jedi", "--output")
    command(*asked, tmp_path / "without")
    command(*asked, tmp_path / "with", "--set", "project.sourceRoots=[lib]")
    manifests = [Workspace.open(tmp_path / name).manifest() for name in ("without", "with")]
    assert [manifest.unresolved_imports for manifest in manifests] == [1.0, 0.0]
    found = [
        {session.expected_text: session.status for session in sessions(Workspace(tmp_path / name))}["cost"]
        for name in ("without", "with")
    ]
    assert [str(status.value) for status in found] == ["empty", "ok"]
