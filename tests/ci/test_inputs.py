"""The declaration of inputs, and the files that are made from it."""

from __future__ import annotations

import json
import re
from pathlib import Path
from runpy import run_path

import pytest
from jsonschema import Draft202012Validator

from ci_eval.ci.inputs import (
    INPUTS,
    JOBS,
    WORKFLOW_INPUTS,
    WORKFLOWS,
    advise,
    cache_key,
    command_line,
    inputs_of,
    is_first_night,
    read_inputs,
)
from ci_eval.cli.group import find_command
from ci_eval.core.base.errors import ConfigError

ROOT = Path(__file__).parents[2]
MADE = run_path(str(ROOT / "benchmarks" / "ci_files.py"))["files"]()


@pytest.mark.parametrize("path", MADE)
def test_a_file_of_a_ci_is_what_the_declaration_says(path: str) -> None:
    assert (ROOT / path).read_text(encoding="utf-8") == MADE[path], "stale: run python benchmarks/ci_files.py"


def test_no_other_recipe_or_component_lies_beside_them() -> None:
    folders = (".teamcity/pluginData/_Self/metaRunners", "templates")
    files = {path.relative_to(ROOT).as_posix() for folder in folders for path in (ROOT / folder).iterdir()}
    assert files <= set(MADE)


@pytest.mark.parametrize("job", JOBS)
def test_no_job_has_an_input_twice(job: str) -> None:
    names = [entry.name for entry in inputs_of(job)]
    assert len(set(names)) == len(names)


def test_an_input_is_of_known_workflows_and_only_required_by_a_job_that_has_it() -> None:
    assert all(set(entry.required) <= set(entry.jobs) for entry in INPUTS)
    assert all(set(entry.workflows) <= set(WORKFLOWS) for entry in WORKFLOW_INPUTS)


def test_every_description_is_a_sentence() -> None:
    described = [entry.description for entry in INPUTS] + [entry.description for entry in WORKFLOW_INPUTS]
    assert all(text.endswith((".", "%.")) for text in described)


@pytest.mark.parametrize(
    ("inputs", "fits"),
    [
        ({"config": "ci/completion.yaml", "output": "workspace"}, True),
        ({"job": "compare", "new": "new", "gates": "RecallAt1 >= -1pp"}, True),
        ({"job": "compare", "base": "base"}, False),
        ({"job": "compare", "new": "new", "engine": "jedi"}, False),
        ({"job": "plan"}, False),
        ({"job": "compare-engines", "base": "jedi", "new": "zuban", "rounds": 3}, False),
    ],
    ids=["evaluate", "compare", "without what it needs", "of another job", "no step", "no text"],
)
def test_the_schema_takes_what_a_step_takes(inputs: dict[str, object], fits: bool) -> None:
    schema = json.loads((ROOT / "docs" / "ci-inputs.schema.json").read_text())
    assert Draft202012Validator(schema).is_valid(inputs) == fits


HOSTILE = "--output=x; $(touch y)"
VALUES = {
    "jobs": "2", "precision": "1pp", "shards": "3", "shard": "1/2",
    "set": "interpret.seed=1\n\ninterpret.sessionsLimit=5", "rounds": "2", "engine-like": "",
    "log-formats": "jsonl\nparquet", "gates": "RecallAt1 >= -1pp\nRecall >= 90%", "more": "c\nd", "configs": "a b",
    "same-ranker": "true", "first-night": "true", "name": "n",
}  # fmt: skip


@pytest.mark.parametrize("job", JOBS)
@pytest.mark.parametrize("plain", ["x", HOSTILE])
def test_every_input_arrives_at_the_real_command_whatever_it_is(job: str, plain: str) -> None:
    _, *argv = command_line(job, {entry.name: VALUES.get(entry.name, plain) for entry in inputs_of(job)})
    params = find_command(job).make_context(job, argv).params
    if not job.startswith("plan"):
        assert str(params["output"]) == plain
    assert params.get("same_ranker", True)
    assert ("gates" not in params) or params["gates"] == ("RecallAt1 >= -1pp", "Recall >= 90%")
    if any(entry.name == "set" for entry in inputs_of(job)):
        assert params["overrides"] == ("interpret.seed=1", "interpret.sessionsLimit=5")


def test_without_inputs_there_are_no_options_so_that_the_configuration_counts() -> None:
    inputs = '{"config": "c.yaml", "log-formats": "", "jobs": null}'
    assert command_line("generate-ml-logs", read_inputs({"CI_EVAL_INPUTS": inputs})) == [
        "generate-ml-logs", "--", "c.yaml",
    ]  # fmt: skip


def test_inputs_come_as_one_object_or_as_a_variable_each() -> None:
    inputs = {"completion-type": "ML", "shard": "1/2"}
    assert read_inputs({"CI_EVAL_INPUTS": json.dumps({**inputs, "set": " "})}) == inputs
    assert read_inputs({"INPUT_COMPLETION_TYPE": "ML", "INPUT_SHARD": "1/2\n", "INPUT_SET": "", "HOME": "/"}) == inputs


@pytest.mark.parametrize(
    ("environment", "said"),
    [
        ({"INPUT_CONFG": "c.yaml"}, "there is no input INPUT_CONFG; did you mean INPUT_CONFIG?"),
        ({"INPUT_COMPLETION_TIPE": ""}, "did you mean INPUT_COMPLETION_TYPE?"),
        ({"CI_EVAL_INPUTS": '{"confg": "c.yaml"}'}, "there is no input confg; did you mean config?"),
        ({"CI_EVAL_INPUTS": '{"zzz": ""}'}, "there is no input zzz: known are base, new"),
        ({"INPUT_CONFIG": "", "INPUT_ENGINE": "words"}, "the job evaluate has nothing to measure"),
        ({"CI_EVAL_INPUTS": '{"config": " ", "job": "evaluate"}'}, "give the input config, a YAML file, or project"),
        ({"INPUT_CONFIG": "c.yaml", "INPUT_ROUNDS": "3"}, "the job evaluate has no input rounds"),
        ({"INPUT_FIRST_NIGHT": "yes"}, "the input first-night is yes: give true or false"),
        ({"CI_EVAL_INPUTS": '{"same-ranker": 1}'}, "the input same-ranker is 1: give true or false"),
    ],
)
def test_a_mistake_in_the_inputs_is_not_a_run_of_something_else(environment: dict[str, str], said: str) -> None:
    with pytest.raises(ConfigError, match=re.escape(said)):
        command_line("evaluate", read_inputs(environment))


def test_a_base_that_is_not_there_is_a_first_night_if_there_is_a_history(tmp_path: Path) -> None:
    inputs = {"base": str(tmp_path / "base"), "new": "new", "history": "past", "first-night": "true"}
    assert is_first_night("compare", inputs)
    assert command_line("compare", inputs) == ["compare", "--history=past", "--first-night", "--", "new"]
    (tmp_path / "base").mkdir()
    assert command_line("compare", inputs)[-2:] == [inputs["base"], "new"]


def test_flags_are_flags_in_any_spelling_of_a_ci() -> None:
    assert read_inputs({"INPUT_FIRST_NIGHT": "True"}) == {"first-night": "true"}
    assert read_inputs({"CI_EVAL_INPUTS": '{"first-night": false}'}) == {"first-night": "false"}


@pytest.mark.parametrize("base", [{"base": "lost"}, {}])
def test_a_base_that_is_lost_is_no_first_night(base: dict[str, str], tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="first-night: true"):
        command_line("compare", {**base, "new": "new", "history": str(tmp_path)})


def test_past_figures_are_a_base(tmp_path: Path) -> None:
    (tmp_path / "night.json").touch()
    assert not is_first_night("compare", {"new": "new", "history": str(tmp_path)})


def test_engines_come_before_the_configuration() -> None:
    inputs = {"config": "c.yaml", "new": "./new --stdio", "base": "jedi"}
    assert command_line("compare-engines", inputs) == ["compare-engines", "--", "jedi", "./new --stdio", "c.yaml"]


def test_without_a_history_a_base_that_is_not_there_is_a_mistake() -> None:
    assert command_line("compare", {"base": "none", "new": "new"})[-2:] == ["none", "new"]


def test_gates_may_stand_on_one_line() -> None:
    assert command_line("compare", {"gates": "Recall >= -2pp; RecallAt1 >= -2pp"})[1:] == [
        "--gate=Recall >= -2pp",
        "--gate=RecallAt1 >= -2pp",
    ]


def test_globs_of_configurations_are_filled_in_and_what_matches_nothing_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("b.yaml", "a.yaml"):
        Path(name).touch()
    assert command_line("plan", {"configs": "*.yaml none.yaml"}) == ["plan", "--", "a.yaml", "b.yaml", "none.yaml"]


@pytest.mark.parametrize("job", ["", "evaluat"])
def test_a_job_that_there_is_not_is_refused_with_those_there_are(job: str) -> None:
    with pytest.raises(ConfigError, match="compare, compare-engines, cases, evaluate, generate-ml-logs"):
        command_line(job, {})


def test_inputs_that_are_no_object_are_refused() -> None:
    with pytest.raises(ConfigError, match=r"toJSON\(inputs\)"):
        read_inputs({"CI_EVAL_INPUTS": "[1]"})


def test_the_key_of_the_cache_changes_with_engine_configuration_and_ci_eval(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = tmp_path / "c.yaml"
    config.write_text("engine: jedi")
    inputs = {"config": str(config)}
    keys = [cache_key(inputs), cache_key({**inputs, "engine": "ty"})]
    config.write_text("engine: ty")
    keys.append(cache_key(inputs))
    monkeypatch.setattr("ci_eval.ci.inputs.PACKAGE", tmp_path)
    keys += [cache_key(inputs), cache_key({**inputs, "shard": "2/3"})]
    assert len(set(keys)) == 4
    assert keys[-1] == keys[-2]


@pytest.mark.parametrize(
    ("text", "job", "advice"),
    [
        ("more --rounds show more", "compare-engines", "more the input rounds show more"),
        ("give --gate RULE", "compare", "give the input gates RULE"),
        ("a --- b, x--y", "compare", "a --- b, x--y"),
    ],
)
def test_advice_names_the_inputs_of_a_job(text: str, job: str, advice: str) -> None:
    assert advise(text, job) == advice


def test_advice_says_which_options_are_no_inputs() -> None:
    said = advise("`--repeat 3` tells more, --set less", "evaluate")
    assert said.startswith("`--repeat 3` tells more, the input set less (evaluate has no input --repeat: call")
