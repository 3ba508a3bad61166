"""The schemas of the files for scripts, against the files of real runs."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import pytest

from ci_eval.jobs.listings import SCHEMAS, schema
from tests.comparing import compare


def problems(name: str, data: object) -> list[str]:
    return [error.message for error in jsonschema.Draft202012Validator(schema(name)).iter_errors(data)]


@pytest.mark.parametrize("name", SCHEMAS)
def test_each_schema_is_one_and_refuses_another_document(name: str) -> None:
    jsonschema.Draft202012Validator.check_schema(schema(name))
    assert problems(name, {"format": "of something else"})


def test_the_files_of_a_run_and_of_its_comparison_keep_to_the_schemas(nights: dict[str, Path], tmp_path: Path) -> None:
    compare(nights["oracle"], nights["words"], tmp_path / "c", "--gate", "RecallAt1 >= -1pp")
    files = {
        "metrics": nights["words"] / "reports" / "metrics.json",
        "manifest": nights["words"] / "manifest.json",
        "comparison": tmp_path / "c" / "comparison.json",
    }
    for name, path in files.items():
        assert problems(name, json.loads(path.read_text())) == [], name


def test_a_line_of_a_dataset_keeps_to_the_schema() -> None:
    assert problems("samples", {"context": {"method": "int f() {}"}, "references": ["Why?"]}) == []
    assert problems("samples", {"references": ["Why?"]})
