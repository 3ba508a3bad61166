"""The declaration of inputs, and the files that are made from it."""

from __future__ import annotations

import json
from pathlib import Path
from runpy import run_path

import pytest
from jsonschema import Draft202012Validator

from ci_eval.ci.inputs import INPUTS, JOBS, STEPS, SUMMARIES, inputs_of
from ci_eval.ci.workflow_inputs import INPUTS as OF_WORKFLOWS

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


def test_an_input_is_only_required_by_a_job_that_has_it() -> None:
    assert all(set(entry.required) <= set(entry.jobs) for entry in INPUTS)
    assert set(SUMMARIES) == set(STEPS)


def test_every_description_is_a_sentence() -> None:
    assert all(entry.description.endswith((".", "%.")) for entry in (*INPUTS, *OF_WORKFLOWS))


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
