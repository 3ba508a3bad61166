"""What an engine is told, by the configuration; and what nobody asked for."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from msgspec.structs import replace

from ci_eval.ci import Screen
from ci_eval.core.base.errors import ConfigError, PreparationError
from ci_eval.core.config import Config, EngineConfig, InterpretConfig, patch, set_engine_command
from ci_eval.core.contracts import Engine, Installation, Surroundings
from ci_eval.core.model import EngineInfo
from ci_eval.core.model.engine import SentConfiguration
from ci_eval.jobs.compare_engines import check_same_configuration
from ci_eval.jobs.preparation import (
    engine_of_command,
    find_similar_engine,
    identify_engine,
    named_engine,
)
from ci_eval.plugins.adapters.engine import Closure, find_closure
from ci_eval.plugins.adapters.lsp.engine import LspEngine
from tests.adapters.lsp.conftest import SERVER
from tests.command import command
from tests.projects import GREETER, write


def named(name: str, imports: str = "default", **more: object) -> Engine:
    interpret = replace(InterpretConfig(), auto_import=imports)
    return named_engine(Config(engine=replace(EngineConfig(name=name), **more), interpret=interpret))


def told(folder: Path, config: Config, engine: Engine) -> tuple[Config, Engine, SentConfiguration]:
    around = Surroundings(
        root=folder,
        language="python",
        keywords=frozenset(),
        cache=folder,
        timeout=1,
        memory=0,
        environment=folder / "needs",
    )
    assert isinstance(engine, LspEngine)
    return config, engine, engine.sent(Installation(info=EngineInfo(name="e", version="1"), folder=folder), around)


def by_name(folder: Path, name: str) -> tuple[Config, Engine, SentConfiguration]:
    config = patch(Config(), engine=name)
    return told(folder, config, named_engine(config))


def of_command(folder: Path, words: str, like: str | None = None) -> tuple[Config, Engine, SentConfiguration]:
    config = set_engine_command(Config(), words, like)
    return told(folder, config, engine_of_command(config, "mine"))


@pytest.mark.parametrize("name", ["pyright", "basedpyright"])
def test_answers_with_names_to_import_depend_on_all_files(name: str) -> None:
    assert {find_closure(named(name, imports)) for imports in ("default", "on")} == {Closure.PROJECT}
    assert find_closure(named(name, "off")) is Closure.IMPORTS


def test_imports_are_switched_where_that_is_known_and_an_error_where_it_is_not() -> None:
    assert named("ty", "off") != named("ty")
    assert named("jedi", "off") == named("jedi")
    with pytest.raises(ConfigError, match=r"`interpret\.autoImport` is on, but ci-eval knows no setting of jedi"):
        named("jedi", "on")
    with pytest.raises(ConfigError, match="knows no setting of zuban"):
        named("zuban", "off")


def test_what_is_put_on_top_is_for_language_servers() -> None:
    assert named("ty", settings={"ty": {"x": 1}}) != named("ty")
    with pytest.raises(ConfigError, match=r"`engine\.environment` is for language servers, and jedi is not"):
        named("jedi", environment={"A": "b"})
    with pytest.raises(ConfigError, match=r"`engine\.options` has no effect on jedi"):
        named("jedi", options={"a": 1})


def test_a_command_is_like_the_engine_that_is_named_or_that_its_program_tells() -> None:
    def like(given: EngineConfig) -> str:
        similar = find_similar_engine(given)
        return similar.name if similar else ""

    assert like(EngineConfig(command=("./ty", "server"))) == "ty"
    assert like(EngineConfig(command=("./ty", "server"), like="zuban")) == "zuban"
    assert like(EngineConfig(command=("./mine",))) == ""
    with pytest.raises(ConfigError, match=r"`engine\.like` is jedi, which is not a language server"):
        like(EngineConfig(command=("./mine",), like="jedi"))


def test_an_engine_by_name_and_by_path_is_told_the_same(tmp_path: Path) -> None:
    check_same_configuration(by_name(tmp_path, "ty"), of_command(tmp_path, "/opt/ty server"))
    check_same_configuration(by_name(tmp_path, "clangd"), of_command(tmp_path, "/opt/clangd"))
    check_same_configuration(by_name(tmp_path, "gopls"), of_command(tmp_path, "/opt/other serve", like="gopls"))


def test_a_command_that_is_told_nothing_is_not_compared_with_an_engine_that_is(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="although you did not ask for that: base had the paths of the packages"):
        check_same_configuration(by_name(tmp_path, "ty"), of_command(tmp_path, "/opt/unknown server"))
    with pytest.raises(ConfigError, match="--engine-like NAME"):
        check_same_configuration(of_command(tmp_path, "/opt/unknown"), by_name(tmp_path, "clangd"))


def test_what_the_configuration_itself_says_is_asked_for(tmp_path: Path) -> None:
    config, _, _ = of_command(tmp_path, "/opt/unknown server")
    own = replace(config, engine=replace(config.engine, settings={"x": {"y": "{dependencies}"}}))
    check_same_configuration(by_name(tmp_path, "ty"), told(tmp_path, own, engine_of_command(own, "mine")))


def test_different_engines_are_told_what_each_understands(tmp_path: Path) -> None:
    check_same_configuration(by_name(tmp_path, "ty"), by_name(tmp_path, "pyright"))


def server(tmp_path: Path, what: str) -> tuple[LspEngine, Installation, Surroundings, Config]:
    config = set_engine_command(Config(), f"{sys.executable} {SERVER} {what} {tmp_path}")
    engine = engine_of_command(config, "mine")
    assert isinstance(engine, LspEngine)
    around = Surroundings(
        root=tmp_path, language="python", keywords=frozenset(), cache=tmp_path, timeout=10, memory=0, confine="off"
    )
    return engine, engine.install(None, tmp_path), around, config


def test_a_server_that_announces_no_completion_is_refused_before_anything_is_asked(tmp_path: Path) -> None:
    with pytest.raises(PreparationError, match="mine announces no completion"):
        identify_engine(*server(tmp_path, "no-completion"), Screen())


@pytest.mark.parametrize("what", ["plain", "late-completion"])
def test_a_server_may_announce_completion_at_once_or_a_little_later(tmp_path: Path, what: str) -> None:
    given = server(tmp_path, what)
    assert identify_engine(*given, Screen()) == given[0]


def test_a_server_is_like_the_engine_that_it_says_it_is(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert identify_engine(*server(tmp_path, "called-gopls"), Screen()).like == "gopls"
    assert "gets the settings and waiting times of gopls, because of the name that it gives" in capsys.readouterr().err


@pytest.mark.usefixtures("in_one_process")
def test_a_run_says_what_its_engine_was_told_and_a_comparison_what_differed(tmp_path: Path) -> None:
    project = write(tmp_path / "p", a__py=GREETER)
    for name, more in (("one", []), ("two", ["--set", "engine.settings={a: {b: 1}}"])):
        words = f"{sys.executable} {SERVER} plain {tmp_path}"
        chosen = ["--engine-command", words, "--project", f"path:{project}", "--sessions", 4, "--jobs", 1]
        code, _, err = command("evaluate", *chosen, *more, "--output", tmp_path / name)
        assert code == 0, err
        assert "Configuration sent to the engine" in (tmp_path / name / "reports" / "report.md").read_text()
        assert "Configuration sent to the engine" in (tmp_path / name / "reports" / "html" / "index.html").read_text()
    manifest = json.loads((tmp_path / "two" / "manifest.json").read_text())
    assert manifest["told"]["settings"] == {"a": {"b": 1}}
    assert {"settings", "arguments", "environment", "capabilities", "limits"} <= manifest["told"].keys()
    code, out, _ = command("compare", tmp_path / "one", tmp_path / "two", "--output", tmp_path / "compared")
    report = json.loads((tmp_path / "compared" / "comparison.json").read_text())
    assert report["conditions"] == [{"name": "settings.a.b", "base": None, "new": "1"}]
    lead = "The engine is the same, the runs differ only in its configuration"
    written = " ".join((tmp_path / "compared" / "report.md").read_text().split())
    assert f"{lead}: new had settings.a.b: 1, base did not." in written
    assert f"{lead}: new had settings.a.b: 1, base did not." in " ".join(out.split())


@pytest.mark.usefixtures("in_one_process")
def test_one_sides_failure_is_that_sides_and_its_reason_the_last_line(tmp_path: Path) -> None:
    project = write(tmp_path / "p", a__py=GREETER)
    words = f"{sys.executable} {SERVER} %s {tmp_path}"
    where = ["--project", f"path:{project}", "--sessions", 4, "--jobs", 1, "--rounds", 2, "--output", tmp_path / "pair"]
    code, out, err = command("compare-engines", words % "plain", words % "error", *where)
    assert code == 5
    assert out.splitlines()[-1] == str(tmp_path / "pair")
    assert err.splitlines()[-1].endswith("answered textDocument/completion with error -32603: internal")
    base, new = (json.loads((tmp_path / "pair" / side / "manifest.json").read_text()) for side in ("base", "new"))
    assert set(base["statuses"]) <= {"ok", "no-match"}
    assert new["statuses"] == {"error": 4}
    assert "internal" in new["trouble"]
    report = (tmp_path / "pair" / "new" / "reports" / "report.md").read_text()
    lead = next(line for line in report.splitlines() if line.startswith("**"))
    assert "The engine failed in all 4 sessions, so there are no figures: " in lead
    assert "RecallAt1" not in report
