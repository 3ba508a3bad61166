"""settings.kts, compiled and executed by Kotlin's own compiler against a stub of the DSL; and the model it makes."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
from collections.abc import Iterator
from pathlib import Path
from runpy import run_path
from typing import Any

import pytest
import yaml

from ci_eval import languages
from ci_eval.cli import cli
from tests.ci.tools import kotlinc, teamcity_stub

ROOT = Path(__file__).parents[2]
SETTINGS = ROOT / ".teamcity" / "settings.kts"


def test_the_list_of_languages_is_the_one_of_the_configurations() -> None:
    generate = run_path(str(ROOT / ".teamcity" / "generate.py"))
    block = re.search(r"// begin generated:[^\n]*\n(.*?)// end generated\n", SETTINGS.read_text(), re.DOTALL)
    assert block
    assert block[1] == generate["generated"](), "stale: run python3 .teamcity/generate.py"


def executed(path: Path) -> tuple[int, str, str]:
    done = kotlinc(["-cp", str(teamcity_stub()), "-script", str(path)], path.parent)
    return done.returncode, done.stdout, done.stderr


# ------------------------------------------------------------------------------------------------------------- recipes

RECIPES = sorted((ROOT / ".teamcity" / "recipes").glob("*.yml"))
FAKE = """#!/usr/bin/env bash
mkdir -p "$3/bin"
printf '#!/bin/sh\\ntrue\\n' > "$3/bin/pip"
printf '#!/bin/sh\\nfor each in "$@"; do printf "%%s\\\\0" "$each"; done > called\\n' > "$3/bin/ci-eval"
chmod +x "$3/bin/pip" "$3/bin/ci-eval"
"""
GIVEN = {"SET": "interpret.seed=1\n\ninterpret.client=raw", "GATES": "RecallAt1 >= -1pp\nRecall >= 90%", "SHARD": "1/2",
         "LOG_FORMATS": "jsonl\nparquet"}  # fmt: skip


def test_there_is_a_recipe_for_each_job() -> None:
    assert {path.stem for path in RECIPES} == {"evaluate", "compare", "generate-ml-logs"}


@pytest.mark.parametrize("path", RECIPES, ids=lambda path: path.stem)
def test_a_recipe_has_what_teamcity_asks_for_and_calls_the_real_cli(path: Path, tmp_path: Path) -> None:
    recipe = yaml.safe_load(path.read_text())
    assert set(recipe) == {"name", "title", "version", "description", "inputs", "steps"}
    assert re.fullmatch(r"[A-Za-z0-9_-]{1,100}", recipe["name"])
    inputs = {name: each for entry in recipe["inputs"] for name, each in entry.items()}
    assert all(set(each) == {"type", "label", "description", "required", "default"} for each in inputs.values())
    names = [name.removeprefix("env.INPUT_") for name in inputs]
    (step,) = recipe["steps"]
    assert {f"INPUT_{name}" for name in names} == set(re.findall(r"INPUT_[A-Z_]+", step["script"]))
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "python3").write_text(FAKE)
    (tmp_path / "bin" / "python3").chmod(0o755)
    values = {f"INPUT_{name}": GIVEN.get(name, "x; $(touch y) 'z'") for name in names}
    environment = {"PATH": f"{tmp_path / 'bin'}:{os.environ['PATH']}", **values}
    script = tmp_path / "script"
    script.write_text(step["script"])
    subprocess.run(["bash", str(script)], cwd=tmp_path, env=environment, check=True, timeout=60)
    assert not (tmp_path / "y").exists()
    name, *argv = (tmp_path / "called").read_text().split("\0")[:-1]
    given = cli.commands[name].make_context(name, argv).params
    assert str(given["output"]) == "x; $(touch y) 'z'"
    if name == "compare":
        assert given["gates"] == ("RecallAt1 >= -1pp", "Recall >= 90%")
        assert len(given["workspaces"]) == 2
    else:
        assert given["overrides"] == ("interpret.seed=1", "interpret.client=raw")


# ---------------------------------------------------------------------------------------------------------------- DSL


@pytest.fixture(scope="module")
def model() -> dict[str, Any]:
    code, out, err = executed(SETTINGS)
    assert code == 0, err
    return dict(json.loads(out))


def builds(model: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield from model["buildTypes"]
    for each in model["subProjects"]:
        yield from builds(each)


def rules(text: str) -> Iterator[tuple[str, str, str]]:
    """Source, archive path within it, target of each line."""
    for line in text.splitlines():
        source, _, target = (part.strip() for part in line.strip().partition("=>"))
        path, _, inner = source.removeprefix("?:").partition("!")
        yield path, inner, target


def commands(build: dict[str, Any]) -> list[list[str]]:
    lines = [line for script in build["scripts"] for line in script.splitlines() if line.startswith('"$CI_EVAL" ')]
    return [shlex.split(line.replace("$(test -d base && echo base)", "base"))[1:] for line in lines]


@pytest.mark.needs("mvn", "java")
@pytest.mark.engine
@pytest.mark.registry
class TestModel:
    """What TeamCity would be told."""

    def test_every_language_has_its_project_and_ids_are_unique_and_valid(self, model: dict[str, Any]) -> None:
        assert model["version"] == "2025.11"
        assert len(model["subProjects"]) == len(languages.CATALOG.names()) - 1
        ids = [each["id"] for each in builds(model)] + [each["id"] for each in model["subProjects"]]
        assert len(set(ids)) == len(ids)
        assert all(re.fullmatch(r"[A-Za-z][A-Za-z0-9_]{0,224}", each) for each in ids)
        for project in model["subProjects"]:
            names = [build["name"] for build in project["buildTypes"]]
            assert {"Evaluate BASIC", "Compare BASIC with the last good night"} <= set(names)
        python = next(each for each in model["subProjects"] if each["id"] == "Language_python")
        assert {"Evaluate ML", "Generate logs"} <= {build["name"] for build in python["buildTypes"]}

    def test_every_consumed_artifact_is_published(self, model: dict[str, Any]) -> None:
        published = {build["id"]: {target for _, _, target in rules(build["artifactRules"])} for build in builds(model)}
        consumed = [
            (dependency["on"], path)
            for build in builds(model)
            for dependency in build["dependencies"]
            for artifact in dependency["artifacts"]
            for path, _, _ in rules(artifact["rules"])
        ]
        assert len(consumed) > 40
        for on, path in consumed:
            assert path in published[on]
        for tab in model["tabs"]:
            archive = tab.partition("!")[0]
            assert any(archive in targets for targets in published.values())

    def test_what_is_used_by_a_command_was_made_or_fetched(self, model: dict[str, Any]) -> None:
        for build in builds(model):
            fetched = {
                target
                for dependency in build["dependencies"]
                for artifact in dependency["artifacts"]
                for _, _, target in rules(artifact["rules"])
            }
            for name, *argv in commands(build):
                given = cli.commands[name].make_context(name, argv).params
                inputs = [str(path) for path in given.get("workspaces", ())]
                inputs += [str(given["model"])] if given.get("model") else []
                assert all(path.split("/")[0] in fetched for path in inputs), (build["id"], inputs)

    def test_every_command_line_is_one_the_real_cli_takes(self, model: dict[str, Any]) -> None:
        seen = set()
        for build in builds(model):
            assert build["vcs"] == 1
            assert build["clean"]
            assert 0 < build["timeout"] <= 180
            assert commands(build)
            for name, *argv in commands(build):
                seen.add(name)
                context = cli.commands[name].make_context(name, list(argv))
                config = getattr(context.params.get("choices"), "config", None) or context.params.get("config")
                assert config is None or (ROOT / str(config)).is_file()
        assert seen == {"evaluate", "merge", "compare", "generate-ml-logs", "train-ranker"}

    def test_nights_start_whether_or_not_something_changed(self, model: dict[str, Any]) -> None:
        schedules = [(build, each) for build in builds(model) for each in build["schedules"]]
        assert len(schedules) == len([build for build in builds(model) if build["id"].startswith("Compare_")])
        for build, each in schedules:
            assert build["id"].startswith("Compare_")
            assert (each["always"], each["withPendingChangesOnly"]) == (True, False)
            assert each["branchFilter"] == "+:<default>"
            assert 1 <= each["hour"] <= 5
            assert 0 < each["minute"] < 60

    def test_a_comparison_takes_tonight_and_the_last_good_night(self, model: dict[str, Any]) -> None:
        for build in builds(model):
            if not build["id"].startswith("Compare_"):
                continue
            snapshots = [each["on"] for each in build["dependencies"] if each["snapshot"]]
            taken = {
                (each["on"], artifact["from"], artifact["rules"])
                for each in build["dependencies"]
                for artifact in each["artifacts"]
            }
            whole = build["id"].replace("Compare_", "Evaluate_")
            assert snapshots == [whole]
            # Of the evaluations tonight's is the last successful one.
            assert taken == {
                (whole, "SameChain", "workspace.zip!** => new"),
                (build["id"], "LastSuccessful", "?:workspace.zip!** => base\n?:history.zip!** => history"),
                (build["id"], "LastFinished", "?:history.zip!** => history"),
            }
            assert ("workspace.zip", "new") in {(target, path) for path, _, target in rules(build["artifactRules"])}

    def test_a_failed_evaluation_is_compared_and_a_failed_ranker_is_not_used(self, model: dict[str, Any]) -> None:
        for build in builds(model):
            for each in build["dependencies"]:
                ranker = each["on"].startswith("GenerateLogs_")
                assert each["snapshot"] in {None, "FAIL_TO_START" if ranker else "ADD_PROBLEM"}

    def test_a_loss_of_quality_fails_the_build(self, model: dict[str, Any]) -> None:
        whole = [build for build in builds(model) if build["name"] in {"Evaluate BASIC", "Evaluate ML"}]
        assert all(build["metrics"] == ["ci_eval.RecallAt1"] for build in whole)

    @pytest.mark.parametrize(
        ("old", "new"),
        [
            ("artifactRules = rules", "artefactRules = rules"),
            ('id("Compare_', 'ident("Compare_'),
            ("hour = 1", 'hour = "1"'),
        ],
    )
    def test_a_planted_mistake_does_not_compile(self, old: str, new: str, tmp_path: Path) -> None:
        text = SETTINGS.read_text()
        assert old in text
        (tmp_path / "settings.kts").write_text(text.replace(old, new, 1))
        code, _, err = executed(tmp_path / "settings.kts")
        assert code != 0
        assert "error:" in err
