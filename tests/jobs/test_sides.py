"""The sides of a comparison of engines: engines, commands, files, and settings of one side alone."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from ci_eval.core.base.errors import ConfigError
from ci_eval.core.config import Config, EngineConfig
from ci_eval.jobs.compare_engines import (
    check_same_sessions,
    make_side,
    split_arguments,
)
from ci_eval.jobs.preparation import load_engine
from tests.adapters.lsp.conftest import SERVER
from tests.command import command
from tests.projects import GREETER, write


@pytest.mark.parametrize(
    ("arguments", "has_settings", "sides", "shared"),
    [
        ("jedi zuban", False, "jedi zuban", None),
        ("jedi zuban c.yaml", False, "jedi zuban", "c.yaml"),
        ("jedi zuban ty c.yaml", False, "jedi zuban ty", "c.yaml"),
        ("jedi mine.yaml", False, "jedi mine.yaml", None),
        ("a.yaml b.json c.yml", False, "a.yaml b.json c.yml", None),
        ("jedi c.yaml", True, "jedi jedi", "c.yaml"),
        ("jedi", True, "jedi jedi", None),
    ],
)
def test_files_behind_engines_are_shared(arguments: str, has_settings: bool, sides: str, shared: str | None) -> None:
    names, path = split_arguments(arguments.split(), has_settings=has_settings)
    assert (names, path and str(path)) == (sides.split(), shared)


def test_settings_of_one_side_make_two_of_one_engine() -> None:
    assert split_arguments(["c.yaml"], has_settings=True) == (["", ""], Path("c.yaml"))
    assert split_arguments([], has_settings=True) == (["", ""], None)
    with pytest.raises(ConfigError, match="give BASE and NEW"):
        split_arguments(["jedi"], has_settings=False)


def test_sides_differ_in_what_they_answer_by_and_not_in_what_they_are_asked() -> None:
    base = make_side(Config(), "jedi", [])
    own = ["completionType=FREQUENCY", "dependencies=false", "engine.options={a: 1}", "interpret.timeout=3"]
    check_same_sessions([base, make_side(Config(), "./server", own)])
    with pytest.raises(ConfigError, match=r"`interpret.seed` is 0 in base and 3 in new.*set the key for all"):
        check_same_sessions([base, make_side(Config(), "jedi", ["interpret.seed=3"])])


def test_a_wrong_setting_names_the_key_that_was_meant() -> None:
    with pytest.raises(ConfigError, match="completionType"):
        make_side(Config(), "jedi", ["completionTyp=ML"])
    with pytest.raises(ConfigError, match=r"may be run\.timeout or interpret\.timeout"):
        make_side(Config(), "jedi", ["timeout=3"])


def test_times_are_among_what_is_declared_unless_the_configuration_declares_some() -> None:
    config = make_side(Config(), "", ()).config
    assert config.declared[-2:] == ("LatencyPercentile50", "LatencyPercentile95")
    assert make_side(config, "", ()).config == config


def test_an_engine_of_ones_own_is_a_command() -> None:
    config = make_side(Config(), "'my server' --stdio", ()).config
    assert config.engine.command == ("my server", "--stdio")
    assert make_side(config, "./server", ()).config.engine.command == ("./server",)
    assert make_side(config, "jedi@0.18.2", ()).config.engine.command is None


def test_a_command_takes_the_place_of_an_endpoint() -> None:
    config = Config(engine=EngineConfig(endpoint="https://host/v1", model="m"))
    assert load_engine(make_side(config, "./server --stdio", ()).config).name == "server"


def test_a_command_that_no_shell_would_understand_is_refused() -> None:
    with pytest.raises(ConfigError, match="is not a command: No closing quotation"):
        make_side(Config(), "server 'x", ())


@pytest.mark.usefixtures("in_one_process")
def test_a_difference_that_was_asked_for_is_said(tmp_path: Path) -> None:
    project = write(tmp_path / "p", a__py=GREETER)
    words = f"{sys.executable} {SERVER} plain {tmp_path}"
    where = ["--project", f"path:{project}", "--sessions", 4, "--jobs", 1, "--rounds", 2, "--output", tmp_path / "pair"]
    code, out, err = command("compare-engines", words, "--new-set", "settings={a: {b: 1}}", *where)
    assert code == 0, err
    report = json.loads((tmp_path / "pair" / "comparison" / "comparison.json").read_text())
    assert report["conditions"] == [{"name": "settings.a.b", "base": None, "new": "1"}]
    assert report["new"] == f"{report['base']}, settings.a.b=1"
    assert "the runs differ only in its configuration: new had settings.a.b: 1" in " ".join(out.split())


@pytest.mark.usefixtures("in_one_process")
def test_configuration_files_are_compared(tmp_path: Path) -> None:
    project = write(tmp_path / "p", a__py=GREETER)
    shared = f"project: path:{project}\ninterpret:\n  sessionsLimit: 6\n"
    (tmp_path / "base.yaml").write_text(f"engine: words\n{shared}")
    (tmp_path / "new.yaml").write_text(f"engine: words\n{shared}  completionType: FREQUENCY\n")
    (tmp_path / "other.yaml").write_text(f"engine: words\n{shared}  seed: 7\n")
    files = (tmp_path / "base.yaml", tmp_path / "new.yaml")
    code, _, err = command("compare-engines", *files, "--jobs", 1, "--rounds", 2, "--output", tmp_path / "pair")
    assert code == 0, err
    sides = json.loads((tmp_path / "pair" / "comparison" / "comparison.json").read_text())["sides"]
    assert [sides[name]["completionType"] for name in ("base", "new")] == ["BASIC", "FREQUENCY"]
    assert sides["base"]["sessions"] == 6
    code, _, err = command("compare-engines", files[0], tmp_path / "other.yaml", "--output", tmp_path / "no")
    assert (code, "`interpret.seed` is 0 in base and 7 in new" in " ".join(err.split())) == (2, True), err
