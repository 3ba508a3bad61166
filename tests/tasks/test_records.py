"""A task whose items are records of a dataset: one file, and all jobs take it."""

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
from tests.packed import unpacked

pytestmark = pytest.mark.slow

TASK = '''"""Echo: the text of a record is wanted again."""

from ci_eval.core.contracts import Band, Task
from ci_eval.core.model import Status
from ci_eval.core.records import ask_once, neutral

BANDS = (Band(name="right", outcome="first"), Band(name="wrong", outcome="absent"))


def rank(expected, _prefix, shown):
    return next((number for number, found in enumerate(shown, 1) if found.text == expected), None)


def status(lookups):
    return Status.OK if lookups[-1].total else Status.EMPTY


def score(session):
    grades = session.lookups[-1].grades if session.lookups else None
    return (grades or {}).get("exact", 0.0)


def band(session):
    return BANDS[0] if score(session) else BANDS[1]


TASK = Task(
    name="echo", summary="texts once more", unit="records", record=neutral, rank=rank, status=status, score=score,
    bands=BANDS, band=band, legend={"first": "right", "absent": "wrong"}, heading="How it went", play=ask_once,
    graders=("exact",),
)
'''
METRIC = '''"""How often a record is right."""

from msgspec.structs import replace

from ci_eval.core.scoring import mean_over_sessions


def right(session):
    grades = session.lookups[-1].grades if session.lookups else None
    return (grades or {}).get("exact", 0.0)


METRICS = (replace(mean_over_sessions("Right", "share of records that are right", right), of="records"),)
'''
ENGINE = '''"""Says what stands in the context, in its record's language."""

from ci_eval.plugins.adapters.controls import Control, ControlEngine


class Parrot(Control):
    def words(self, query):
        return [query.record.context["text"], query.record.language]


ENGINE = ControlEngine("parrot", "repeats", Parrot, takes_records=True)
'''
RECORDS: list[dict[str, Any]] = [
    {"id": "a", "meta": {"repo": "x/one"}, "context": {"text": "yes"}, "references": ["no", "yes"], "language": "go"},
    {"id": "b", "meta": {"repo": "x/one"}, "context": {"text": "ten"}, "references": ["two"], "language": "go"},
    {"id": "../b", "meta": {"repo": "y"}, "context": {"text": "ü\r\nx\n"}, "references": ["ü\r\nx\n"]},
    {"id": 7, "meta": {"repo": "y"}, "context": {"text": "open"}, "references": []},
]


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where a copy of ci-eval lies that has the task, with a dataset."""
    folder = tmp_path_factory.mktemp("package")
    shutil.copytree(Path(ci_eval.__file__).parent, folder / "ci_eval", ignore=shutil.ignore_patterns("__pycache__"))
    for kind, name, text in (("tasks", "echo", TASK), ("metrics", "right", METRIC), ("engines", "parrot", ENGINE)):
        (folder / "ci_eval" / "plugins" / kind / f"{name}.py").write_text(text)
    write(folder / "records.jsonl", RECORDS)
    return folder


def write(path: Path, records: list[dict[str, Any]]) -> Path:
    path.write_text("".join(f"{json.dumps(each)}\n" for each in records))
    return path


def run(package: Path, *arguments: object, code: int = 0) -> str:
    """What ci-eval says there."""
    argv = [sys.executable, "-m", "ci_eval", *map(str, arguments)]
    environment = {**os.environ, "PYTHONPATH": str(package), "CI_EVAL_CACHE": str(package / "cache")}
    ended = subprocess.run(argv, cwd=package, env=environment, capture_output=True, text=True, check=False)
    assert ended.returncode == code, ended.stderr
    return ended.stdout + ended.stderr


def evaluate(
    package: Path, engine: str, output: str, *more: object, dataset: str = "records.jsonl", code: int = 0
) -> str:
    given = ("--task", "echo", "--dataset", dataset, "--engine", engine, "--jobs", 1, *more)
    return run(package, "evaluate", *given, "--output", package / output, code=code)


@pytest.fixture(scope="module")
def evaluated(package: Path) -> Path:
    for engine in ("parrot", "oracle", "empty"):
        evaluate(package, engine, engine, "--set", "dataset.cluster=meta.repo")
    return package


def figures(workspace: Path) -> Any:
    found = json.loads((workspace / "reports" / "metrics.json").read_text())
    return found["evaluations"][0]["filters"]["ALL"]["metrics"]


def sessions(workspace: Path) -> dict[str, Any]:
    """File → its one session."""
    lines = [unpacked(path).decode() for path in workspace.glob("sessions/*.zst")]
    found = [json.loads(each.splitlines()[1]) for each in lines]
    return {each["file"]: each for each in found}


def test_controls_are_at_their_exact_ends(evaluated: Path) -> None:
    assert figures(evaluated / "empty")["Right"]["value"] == 0
    assert figures(evaluated / "oracle")["Right"]["value"] == 0.75  # the record without a reference is never right


def test_any_of_several_references_counts(evaluated: Path) -> None:
    found = sessions(evaluated / "parrot")
    assert found["x/one/a.txt"]["lookups"][0]["grades"] == {"exact": 1.0}
    assert found["x/one/b.txt"]["lookups"][0]["grades"] == {"exact": 0.0}


def test_a_record_without_references_is_asked_and_not_graded(evaluated: Path) -> None:
    (lookup,) = sessions(evaluated / "parrot")["y/7.txt"]["lookups"]
    assert (lookup["total"], "grades" in lookup) == (2, False)


def test_the_engine_is_given_the_record(evaluated: Path) -> None:
    session = sessions(evaluated / "parrot")["x/one/a.txt"]
    assert [each["text"] for each in session["lookups"][0]["suggestions"]] == ["yes", "go"]
    assert session["properties"] == {"kind": "RECORD", "language": "go"}


def test_no_id_leaves_the_folder_of_the_dataset(evaluated: Path) -> None:
    assert all(".." not in each for each in sessions(evaluated / "parrot"))
    laid_out = evaluated / "cache" / "datasets"
    assert [path.name for path in laid_out.iterdir() if not (path.is_dir() and len(path.name) == 32)] == []


def test_records_are_compared_and_sampled_by_the_field_that_is_named(evaluated: Path) -> None:
    run(evaluated, "compare", evaluated / "empty", evaluated / "parrot", "--output", evaluated / "compared")
    found = json.loads((evaluated / "compared" / "comparison.json").read_text())["filters"]["ALL"]["metrics"]["Right"]
    assert found["difference"] == 0.5
    # Both repositories are groups, of which other records would be.
    assert found["elsewhere"]["effective"] == pytest.approx(2, abs=0.3)


def test_a_record_has_a_page_that_shows_it(evaluated: Path) -> None:
    pages = [path.read_text() for path in (evaluated / "parrot" / "reports" / "html").rglob("*.html")]
    assert any("ten" in page and "two" in page for page in pages)


def test_grades_are_made_anew_from_the_workspace_alone(evaluated: Path, tmp_path: Path) -> None:
    workspace = shutil.copytree(evaluated / "parrot", tmp_path / "copy")
    before = figures(workspace)["Right"]
    run(evaluated, "grade", workspace)
    assert figures(workspace)["Right"] == before


def test_sessions_are_interpreted_by_another_engine(evaluated: Path) -> None:
    run(evaluated, "interpret", evaluated / "parrot", "--engine", "oracle", "--output", evaluated / "again")
    assert sessions(evaluated / "again").keys() == sessions(evaluated / "parrot").keys()


def test_shards_are_merged(package: Path) -> None:
    for number in (1, 2):
        evaluate(package, "parrot", f"shard{number}", "--shard", f"{number}/2", dataset="records.jsonl")
    run(package, "merge", package / "shard1", package / "shard2", "--output", package / "merged")
    assert len(sessions(package / "merged")) == len(RECORDS)


def test_a_line_that_is_no_record_is_an_error_and_costs_no_other(package: Path) -> None:
    lines = (package / "records.jsonl").read_text() + '{"id": 1}\n[]\n{"id": "a", "context": {"text": "again"}}\n'
    (package / "broken.jsonl").write_text(lines)
    evaluate(package, "oracle", "broken", dataset="broken.jsonl")
    errors = [json.loads(path.read_text()) for path in sorted((package / "broken" / "errors").iterdir())]
    assert [each["path"] for each in errors] == ["line 5", "line 6", "line 7"]
    assert len(sessions(package / "broken")) == len(RECORDS)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (("--dataset", "none.jsonl"), "there is no dataset none.jsonl"),
        ((), "takes records: add --dataset FILE"),
        (("--dataset", "records.jsonl", "--project", "path:."), "`project` has no effect"),
        (("--dataset", "records.jsonl", "--engine", "words"), "choose empty, oracle, parrot"),
        (("--dataset", "records.jsonl", "--set", "actions.strategy.context=PREVIOUS"), "`actions` has no effect"),
    ],
)
def test_what_does_not_fit_is_refused(package: Path, given: tuple[str, ...], said: str) -> None:
    engine = () if "--engine" in given else ("--engine", "oracle")
    assert said in run(package, "evaluate", "--task", "echo", "--project", "", *engine, *given, code=2)


def test_a_dataset_is_nothing_to_a_task_of_source_code(package: Path) -> None:
    assert "about source code" in run(package, "evaluate", "--dataset", "records.jsonl", "--engine", "words", code=2)


def test_a_dataset_without_records_says_so(package: Path) -> None:
    (package / "nothing.jsonl").write_text("\n")
    assert "holds no records" in evaluate(package, "oracle", "nothing", dataset="nothing.jsonl", code=3)
