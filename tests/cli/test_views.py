"""What there is to choose from, and what this machine has."""

from __future__ import annotations

import json

import pytest

from tests.cli.conftest import Run


@pytest.mark.parametrize(
    ("what", "name"),
    [("languages", "python"), ("engines", "jedi"), ("completion-types", "ALPHABETICAL"), ("metrics", "RecallAt1")],
)
def test_list_prints_a_table_or_json(run: Run, what: str, name: str) -> None:
    assert name in run("list", what)[1]
    assert name in [row["name"] for row in json.loads(run("list", what, "--format", "json")[1])]


def test_doctor_finds_what_every_evaluation_needs(run: Run) -> None:
    code, out, err = run("doctor")
    assert code == 0, err
    assert "suggestions after `os.`" in out
    lines = out.splitlines()
    assert next(line for line in lines if "engine ty " in line).startswith("untried")
    assert next(line for line in lines if "engine jedi" in line).startswith("ok")
