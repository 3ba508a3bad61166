"""TeamCity's recipes: what its marketplace takes, and what their steps call."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from ci_eval.ci.inputs import STEPS, command_line, read_inputs
from ci_eval.cli.group import find_command
from tests.ci.marketplace import refused
from tests.ci.parsers import service_messages
from tests.ci.teamcity_stage import ROOT, make_source
from tests.waiting import HANGS

RECIPES = sorted((ROOT / ".teamcity" / "pluginData" / "_Self" / "metaRunners").glob("*.yml"))
GIVEN = {"SET": "interpret.seed=1\n\ninterpret.client=raw", "GATES": "RecallAt1 >= -1pp\nRecall >= 90%", "SHARD": "1/2",
         "LOG_FORMATS": "jsonl\nparquet", "PRECISION": "1pp", "JOBS": "2", "ROUNDS": "2", "ENGINE_LIKE": "",
         "SAME_RANKER": "true", "FIRST_NIGHT": "false"}  # fmt: skip
HOSTILE = "x; $(touch y) 'z'"


@pytest.fixture
def source(tmp_path: Path) -> tuple[Path, str]:
    return make_source(tmp_path / "source")


def test_there_is_a_recipe_for_each_job() -> None:
    assert {path.stem for path in RECIPES} == {f"ci-eval-{job}" for job in STEPS}


@pytest.mark.parametrize("path", RECIPES, ids=lambda path: path.stem)
def test_the_marketplace_takes_the_recipe(path: Path) -> None:
    assert list(refused(yaml.safe_load(path.read_text()))) == []


@pytest.mark.parametrize(
    ("old", "new", "why"),
    [
        ("name: ci-eval/compare", "name: ci-eval-compare", "name"),
        ("name: ci-eval/compare", "name: ci-eval/c--ompare", "name"),
        ("name: ci-eval/compare", "name: eval/compare", "namespace"),
        ("version: 1.1.0", 'version: "1.0"', "version"),
        ("title: ci-eval compare", "title: " + "x" * 51, "title"),
        ('label: "Base"', 'label: ""', "label"),
        ("label: ", "tip: ", "unknown: tip"),
        ("required: true", "required: perhaps", "required"),
        ("required: true", 'required: true\n      default: ""', "default"),
        ("type: text", "type: string", "type"),
        ("env.INPUT_BASE", "env.INPUT_NEW", "twice"),
    ],
)
def test_a_planted_mistake_is_refused(old: str, new: str, why: str) -> None:
    text = next(path for path in RECIPES if path.stem == "ci-eval-compare").read_text()
    assert old in text
    assert why in refused(yaml.safe_load(text.replace(old, new, 1)))


def ran(path: Path, folder: Path, **values: str) -> subprocess.CompletedProcess[str]:
    """The recipe's step, in an empty checkout."""
    (step,) = yaml.safe_load(path.read_text())["steps"]
    (folder / "script").write_text(step["script"])
    kept = Path(values["INPUT_SOURCE"]) / ".environment"
    variables = {"PATH": os.environ["PATH"], "HOME": str(folder.parent), "CI_EVAL_ENVIRONMENT": str(kept), **values}
    # What TeamCity takes for a script that does not name its shell.
    command = ["sh", str(folder / "script")]
    return subprocess.run(
        command, cwd=folder, env=variables, capture_output=True, text=True, timeout=HANGS, check=False
    )


def called(folder: Path, values: dict[str, str]) -> tuple[str, list[str]]:
    """The command that `ci-eval ci run` comes to, and its arguments."""
    *_, group, verb, job = (folder / "called").read_text().split("\0")[:-1]
    assert (group, verb) == ("ci", "run")
    name, *argv = command_line(job, read_inputs(values))
    return name, argv


def inputs(path: Path) -> dict[str, dict[str, Any]]:
    return {name.removeprefix("env."): each for entry in yaml.safe_load(path.read_text())["inputs"]
            for name, each in entry.items()}  # fmt: skip


@pytest.mark.needs("git")
@pytest.mark.parametrize("path", RECIPES, ids=lambda path: path.stem)
def test_a_recipe_calls_the_real_cli_and_what_is_given_is_never_a_command(
    path: Path, source: tuple[Path, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    values = {name: GIVEN.get(name.removeprefix("INPUT_"), HOSTILE) for name in inputs(path)}
    # A base that is not there would be an error.
    (tmp_path / "checkout" / HOSTILE).mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "checkout")
    done = ran(path, tmp_path / "checkout", **values | {"INPUT_SOURCE": str(source[0]), "INPUT_COMMIT": source[1]})
    assert done.returncode == 0, done.stderr
    assert {each.name for each in (tmp_path / "checkout").iterdir()} == {"script", "called", HOSTILE}
    name, argv = called(tmp_path / "checkout", values)
    given = find_command(name).make_context(name, argv).params
    assert str(given["output"]) == HOSTILE
    if "gates" in given:
        assert given["gates"] == ("RecallAt1 >= -1pp", "Recall >= 90%")
    if "INPUT_SET" in values:
        assert given["overrides"] == ("interpret.seed=1", "interpret.client=raw")
    if name == "compare":
        assert (len(given["workspaces"]), given["same_ranker"]) == (3, True)


@pytest.mark.needs("git")
@pytest.mark.parametrize("path", RECIPES, ids=lambda path: path.stem)
def test_an_optional_input_may_be_left_out(path: Path, source: tuple[Path, str], tmp_path: Path) -> None:
    asked = inputs(path).items()
    needed = {name: each.get("default", "x") for name, each in asked if each["required"] or "default" in each}
    # What is measured is said by this or by a project.
    needed |= {"INPUT_CONFIG": "c.yaml"} if "INPUT_CONFIG" in inputs(path) else {}
    done = ran(path, tmp_path, **needed | {"INPUT_SOURCE": str(source[0]), "INPUT_COMMIT": source[1]})
    assert done.returncode == 0, done.stderr
    name, argv = called(tmp_path, needed)
    assert str(find_command(name).make_context(name, argv).params["output"]) == needed["INPUT_OUTPUT"]


@pytest.mark.needs("git")
@pytest.mark.parametrize("commit", ["main", "0" * 40, "--upload-pack=touch y"])
def test_another_commit_than_the_one_in_full_is_a_problem_of_the_build(
    commit: str, source: tuple[Path, str], tmp_path: Path
) -> None:
    (tmp_path / "checkout").mkdir()
    done = ran(RECIPES[0], tmp_path / "checkout", INPUT_SOURCE=str(source[0]), INPUT_COMMIT=commit)
    ((name, values),) = service_messages(done.stdout)
    assert (done.returncode, name, values["identity"]) == (4, "buildProblem", "ci_eval_source")
    assert [each.name for each in (tmp_path / "checkout").iterdir()] == ["script"]


@pytest.mark.needs("git")
def test_a_failing_installation_is_a_problem_of_the_build(source: tuple[Path, str], tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    variables = {**os.environ, "RUNNER_TEMP": str(tmp_path / "file")}
    argv = [sys.executable, str(source[0] / ".teamcity" / "run.py"), "evaluate"]
    done = subprocess.run(argv, env=variables, capture_output=True, text=True, check=False)
    ((name, values),) = service_messages(done.stdout)
    assert (done.returncode, name, values["identity"]) == (4, "buildProblem", "ci_eval_bootstrap")


def test_a_recipe_never_overwrites_what_an_earlier_build_left_in_the_checkout() -> None:
    defaults = [inputs(path)["INPUT_OUTPUT"]["default"] for path in RECIPES]
    assert all(each.startswith("%system.teamcity.build.tempDir%/") for each in defaults)


# ---------------------------------------------------------------------------------------------------------------- DSL
