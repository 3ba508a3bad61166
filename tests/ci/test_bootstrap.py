"""run.py, which gives workflows a ci-eval: with what the job needs, whatever is there already."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from runpy import run_path

import pytest

from tests.ci.parsers import github_commands
from tests.needs import need_modules

ROOT = Path(__file__).parents[2]
RUN = run_path(str(ROOT / ".github" / "actions" / "run.py"))


@pytest.mark.parametrize(
    ("argv", "inputs", "wanted"),
    [
        (["train-ranker", "logs"], "", True),
        (["ci", "run"], '{"job": "generate-ml-logs"}', True),
        (["ci", "run"], '{"completion-type": "ML"}', True),
        (["ci", "run"], '{"completion-type": "", "model": "model.json"}', True),
        (["ci", "run"], '{"model": "", "completion-type": "BASIC", "config": "HTML"}', False),
        (["merge", "shards"], "", False),
    ],
)
def test_what_learning_needs_is_installed_where_something_is_learned(
    argv: list[str], inputs: str, wanted: bool
) -> None:
    assert RUN["needs_ml"](argv, {"CI_EVAL_INPUTS": inputs}) is wanted


def test_variables_of_private_registries_are_lines() -> None:
    assert RUN["registries"]("PIP_INDEX_URL=u?a=b\n\n npm_config_x=1\n") == {
        "PIP_INDEX_URL": "u?a=b",
        "npm_config_x": "1",
    }


@pytest.mark.parametrize("text", ["hunter2", "A=1\nhunter2", "A=hunter2\nA=2"])
def test_a_secret_that_is_no_variables_is_refused_without_showing_it(
    text: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit, match="2"):
        RUN["registries"](text)
    said = capsys.readouterr().out
    assert "NAME=VALUE" in said
    assert "hunter2" not in said


@pytest.mark.parametrize("variable", ["RUNNER_TEMP", "CI_EVAL_ENVIRONMENT"])
def test_an_installation_that_fails_ends_in_a_message_and_not_as_a_broken_gate(variable: str, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    variables = {**os.environ, "GITHUB_ACTIONS": "true", variable: str(tmp_path / "file")}
    argv = [sys.executable, str(ROOT / ".github" / "actions" / "run.py"), "evaluate"]
    done = subprocess.run(argv, env=variables, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (4, "")
    ((name, _, text),) = github_commands(done.stdout)
    assert (name, text.partition(":")[0]) == ("error", "ci-eval could not be installed")


def test_a_package_that_pip_does_not_get_ends_in_a_message_too(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def program(*_: object) -> Path:
        raise subprocess.CalledProcessError(1, ["pip", "install"])

    monkeypatch.setitem(RUN["main"].__globals__, "program", program)
    monkeypatch.delenv("GITHUB_ACTIONS", raising=False)
    assert RUN["main"]() == 4
    assert "'pip', 'install'" in capsys.readouterr().out


def environments(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *mls: bool) -> list[Path]:
    """Where they are, after making each as far as without pip and a network."""
    made: list[Path] = []

    def create(folder: Path, with_pip: bool, clear: bool) -> None:
        folder.mkdir(exist_ok=True)
        made.append(folder)

    program = RUN["program"]
    monkeypatch.setattr(program.__globals__["venv"], "create", create)
    monkeypatch.setattr(program.__globals__["subprocess"], "run", lambda *_, **__: None)
    for ml in mls:
        program(ml, {"RUNNER_TEMP": str(tmp_path)})
    return made


def test_an_environment_without_the_extra_is_not_taken_where_the_extra_is_needed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = environments(tmp_path, monkeypatch, False, True, False, True)
    assert len(made) == len(set(made)) == 2


def test_an_environment_that_was_not_finished_is_made_anew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (first,) = environments(tmp_path, monkeypatch, False)
    (first / "complete").unlink()
    assert environments(tmp_path, monkeypatch, False) == [first]


def test_the_key_of_an_environment_changes_with_what_is_in_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = RUN["folder_of"]
    root = tmp_path / "checkout"
    for name in (".ci/requirements.txt", ".ci/requirements-ml.txt", "pyproject.toml", "ci_eval/a.py"):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(name)
    monkeypatch.setitem(folder.__globals__, "ROOT", root)
    keys = [folder(False, {}).name, folder(True, {}).name]
    (root / "ci_eval" / "a.py").write_text("changed")
    keys.append(folder(False, {}).name)
    monkeypatch.setattr(sys, "executable", "/another/python")
    keys.append(folder(False, {}).name)
    assert len(set(keys)) == len(keys)


def test_an_environment_of_the_runner_is_not_cached(tmp_path: Path) -> None:
    outputs = tmp_path / "outputs"
    RUN["where"](False, {"CI_EVAL_ENVIRONMENT": sys.prefix, "GITHUB_OUTPUT": str(outputs)})
    assert not outputs.exists()
    RUN["where"](False, {"RUNNER_TEMP": str(tmp_path), "GITHUB_OUTPUT": str(outputs)})
    assert f"path={tmp_path}/ci-eval-" in outputs.read_text()


@pytest.mark.slow
def test_a_runners_own_environment_is_used_if_it_has_what_is_needed() -> None:
    need_modules("lightgbm", "pyarrow")
    kept = {"CI_EVAL_ENVIRONMENT": sys.prefix}
    assert RUN["program"](True, kept) == RUN["python_of"](Path(sys.prefix))


def test_a_runners_own_environment_without_the_extra_is_refused(tmp_path: Path) -> None:
    python = RUN["python_of"](tmp_path)
    python.parent.mkdir()
    python.write_text("#!/bin/sh\nexit 1\n")
    python.chmod(0o755)
    with pytest.raises(OSError, match=r"lightgbm, pyarrow: install ci-eval\[ml\]"):
        RUN["program"](True, {"CI_EVAL_ENVIRONMENT": str(tmp_path)})
