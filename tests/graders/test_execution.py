"""The grader that runs tests: when it may, and what it stores."""

from __future__ import annotations

import json
from pathlib import Path

import msgspec
import pytest

from ci_eval.cli.group import cli
from ci_eval.core.base.errors import ConfigError, PreparationError
from ci_eval.core.catalogs import graders
from ci_eval.core.contracts import Pairing
from ci_eval.core.model import Session
from ci_eval.core.workspace import Workspace
from ci_eval.plugins.adapters import place
from ci_eval.plugins.graders import execution
from tests.adapters.testruns.shops import GOOD, record, settings


def test_it_runs_nothing_unless_that_is_configured(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"run: \{tests: true\}"):
        graders.ready(["execution"], tmp_path)


def test_a_task_without_tests_refuses_to_run_some(tmp_path: Path) -> None:
    argv = ["evaluate", "--project", f"path:{tmp_path}", "--set", "run.tests=true", "--output", str(tmp_path / "out")]
    with pytest.raises(ConfigError, match=r"whose answers are not tests: remove it"):
        cli.main(argv, standalone_mode=False)


def test_where_anything_stays_open_it_refuses_unless_confinement_is_off(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(execution, "measure_confinement", lambda _: "landlock 3 + seccomp; open: signals")
    with pytest.raises(PreparationError, match="open: signals"):
        graders.ready(["execution"], tmp_path, None, settings())
    graders.ready(["execution"], tmp_path, None, settings(confine="off"))


def test_a_record_that_is_not_run_is_counted_and_has_no_other_score(tmp_path: Path) -> None:
    assert place.measure_confinement("auto")
    (grader,) = graders.ready(["execution"], tmp_path, None, settings(confine="off"))
    pairing = Pairing(reference="a", hypothesis="b", language="python")
    assert grader.grade(pairing) == {"notRunnable": 1.0}
    assert isinstance(grader, graders.Remarking)
    assert grader.remark(pairing) == "The test is not run: the record has no `run`."


def dataset(folder: Path) -> Path:
    lines = [
        {"id": 1, "context": {"a": "b"}, **msgspec.to_builtins(record("python"))},
        {"id": 2, "language": "python", "context": {"a": "b"}, "references": ["def test(): pass"]},
    ]
    (folder / "records.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    return folder / "records.jsonl"


def evaluated(folder: Path, engine: str) -> tuple[dict[str, float], Workspace]:
    """The figures, by their names."""
    argv = ["evaluate", "--task", "unit-tests", "--dataset", str(dataset(folder)), "--engine", engine, "--jobs", "1"]
    argv += ["--set", "run={tests: true, mutants: 3}", "--set", "interpret.allowedEmpty=1"]
    cli.main([*argv, "--output", str(folder / engine)], standalone_mode=False)
    told = json.loads((folder / engine / "reports" / "metrics.json").read_text())
    figures = told["evaluations"][0]["filters"]["ALL"]["metrics"]
    return {name: each["value"] for name, each in figures.items()}, Workspace.open(folder / engine)


@pytest.mark.registry
@pytest.mark.slow
def test_controls_stand_at_their_ends_and_grading_anew_says_the_same(tmp_path: Path) -> None:
    figures, workspace = evaluated(tmp_path, "oracle")
    assert [figures[name] for name in ("Runs", "Passes", "FailsOnStub", "NotRunnable")] == [1, 1, 1, 1]
    figures, _ = evaluated(tmp_path, "empty")
    assert [figures[name] for name in ("Runs", "Passes", "FailsOnStub", "MutantsKilled")] == [0, 0, 0, 0]
    sessions = [session for _, found in workspace.sessions(Session) for session in found]
    assert workspace.manifest().run == "3 mutants, 30 s a run"
    with pytest.raises(ConfigError, match=r"run the tests in stored answers, confined \(run.tests\)"):
        cli.main(["grade", str(workspace.folder)], standalone_mode=False)
    cli.main(["grade", str(workspace.folder), "--trust"], standalone_mode=False)
    anew = [session for _, found in workspace.sessions(Session) for session in found]
    assert anew == sessions
    assert "It passes." in sessions[0].lookups[0].suggestions[0].remark


@pytest.mark.registry
@pytest.mark.slow
def test_pairs_are_graded_where_a_configuration_says_that_they_may_be_run(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "c.yaml").write_text("run: {tests: true, mutants: 0}\n")
    pair = Pairing(reference="", hypothesis=GOOD["python"], language="python", record=record("python"))
    (tmp_path / "pairs.jsonl").write_bytes(msgspec.json.encode(pair))
    cli.main(
        ["grade", "execution", str(tmp_path / "pairs.jsonl"), "--config", str(tmp_path / "c.yaml")],
        standalone_mode=False,
    )
    assert json.loads(capsys.readouterr().out)["scores"] == {"runs": 1.0, "passes": 1.0, "failsOnStub": 1.0}
