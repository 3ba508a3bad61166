"""A task, a grader and a metric that nobody knew before: one file each, and all jobs take them."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import ci_eval
from tests.projects import GREETER, write

pytestmark = pytest.mark.slow

TASK = '''"""Calls: the names behind a dot, which count whatever their case."""

from msgspec.structs import replace

from ci_eval.core.scoring import each_token
from ci_eval.plugins.tasks.completion import COMPLETION


def behind_dots(text, tokens):
    return (item for item in each_token(text, tokens) if text[item.begin - 1 : item.begin] == ".")


def rank(expected, _prefix, shown):
    return next((n for n, found in enumerate(shown, 1) if found.text.lower() == expected.lower()), None)


TASK = replace(
    COMPLETION, name="calls", summary="behind dots", items=behind_dots, rank=rank, graders=("same-length",), graded=3
)
'''
GRADER = '''"""Whether it is as long as it should be."""


class SameLength:
    name = "same-length"
    summary = "1 where both are as long"

    def grade(self, pairing):
        return {"sameLength": float(len(pairing.reference) == len(pairing.hypothesis))}


GRADER = SameLength()
'''
METRIC = '''"""How often the first suggestion is as long as it should be."""

from ci_eval.core.scoring import mean_over_sessions


def graded(session):
    grades = session.lookups[-1].grades if session.lookups else None
    return (grades or {}).get("sameLength", 0.0)


METRICS = (mean_over_sessions("SameLength", "share of first suggestions of the right length", graded),)
'''


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where a copy of ci-eval lies that has the three files."""
    folder = tmp_path_factory.mktemp("package")
    shutil.copytree(Path(ci_eval.__file__).parent, folder / "ci_eval", ignore=shutil.ignore_patterns("__pycache__"))
    for kind, name, text in (
        ("tasks", "calls", TASK),
        ("graders", "same_length", GRADER),
        ("metrics", "same_length", METRIC),
    ):
        (folder / "ci_eval" / "plugins" / kind / f"{name}.py").write_text(text)
    write(folder / "p", main__py=GREETER)
    return folder


def run(package: Path, *arguments: object, code: int = 0) -> str:
    """What ci-eval says there."""
    argv = [sys.executable, "-m", "ci_eval", *map(str, arguments)]
    ended = subprocess.run(
        argv, cwd=package, env={**os.environ, "PYTHONPATH": str(package)}, capture_output=True, text=True, check=False
    )
    assert ended.returncode == code, ended.stderr
    return ended.stdout


@pytest.fixture(scope="module")
def evaluated(package: Path) -> Path:
    for engine in ("words", "empty"):
        given = ("--project", f"path:{package / 'p'}", "--task", "calls", "--engine", engine, "--jobs", 1)
        run(package, "evaluate", *given, "--output", package / engine)
    return package


def report(path: Path) -> Any:
    return json.loads(path.read_text())


def test_a_third_task_is_evaluated_and_reported(evaluated: Path) -> None:
    found = report(evaluated / "words" / "reports" / "metrics.json")["evaluations"][0]["filters"]["ALL"]
    assert found["sessions"] == 3  # name, sep, greet
    assert found["metrics"]["SameLength"]["value"] is not None
    assert "SameLength" in (evaluated / "words" / "reports" / "report.md").read_text()
    assert "Where the expected text stood" in (evaluated / "words" / "reports" / "html" / "index.html").read_text()


def test_its_manifest_names_it(evaluated: Path) -> None:
    manifest = report(evaluated / "words" / "manifest.json")
    assert (manifest["task"], manifest["strategy"]) == ("calls", "ALL/calls/NoPrefix")


def test_it_is_compared(evaluated: Path) -> None:
    run(evaluated, "compare", evaluated / "empty", evaluated / "words", "--output", evaluated / "compared")
    metrics = report(evaluated / "compared" / "comparison.json")["filters"]["ALL"]["metrics"]
    assert metrics["Recall"]["difference"] > 0
    assert "SameLength" in metrics


def test_it_is_no_completion_that_could_be_compared_with_it(evaluated: Path) -> None:
    given = ("--project", f"path:{evaluated / 'p'}", "--engine", "words", "--jobs", 1)
    run(evaluated, "evaluate", *given, "--output", evaluated / "tokens")
    run(evaluated, "compare", evaluated / "tokens", evaluated / "words", "--output", evaluated / "both", code=2)


def test_its_suggestions_are_graded_anew_without_the_engine(evaluated: Path, tmp_path: Path) -> None:
    copy = shutil.copytree(evaluated, tmp_path / "copy")
    (copy / "ci_eval" / "plugins" / "graders" / "same_length.py").write_text(
        GRADER.replace("float(", "0.25 + 0 * float(")
    )
    run(copy, "grade", copy / "words")
    found = report(copy / "words" / "reports" / "metrics.json")["evaluations"][0]["filters"]["ALL"]
    assert found["metrics"]["SameLength"]["value"] == 0.25


def test_pairs_of_texts_are_graded_line_by_line(package: Path, tmp_path: Path) -> None:
    pairs = tmp_path / "pairs.jsonl"
    pairs.write_text('{"reference": "ab", "hypothesis": "cd"}\n{"reference": "ab", "hypothesis": "c"}\n')
    lines = run(package, "grade", "same-length", pairs).splitlines()
    assert [json.loads(line) for line in lines] == [{"scores": {"sameLength": 1.0}}, {"scores": {"sameLength": 0.0}}]


def test_all_three_are_listed(package: Path) -> None:
    assert "calls" in run(package, "list", "tasks")
    assert "same-length" in run(package, "list", "graders")
    assert "SameLength" in run(package, "list", "metrics")
