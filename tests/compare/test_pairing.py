"""Which sessions of two evaluations are compared."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from ci_eval.core.workspace import Workspace
from tests.command import command as run
from tests.comparing import compare
from tests.projects import GREETER, write


@pytest.mark.slow
def test_sessions_of_changed_files_are_counted_and_left_out(tmp_path: Path) -> None:
    made = []
    for name, more in (("base", ""), ("new", "x = 1\n")):
        project = write(tmp_path / name / "p", a__py=GREETER, b__py=GREETER + more)
        made.append(tmp_path / f"{name}-night")
        code, _, err = run("evaluate", "--project", f"path:{project}", "--engine", "words", "--output", made[-1])
        assert code == 0, err
    code, report, said = compare(*made, tmp_path / "out")
    assert code == 0, said
    assert report["files"] == 1
    assert report["changedText"] >= report["paired"] > 0
    assert "have no partner" in " ".join(said.split())


def test_other_projects_have_no_session_in_common(nights: dict[str, Path], tmp_path: Path) -> None:
    project = write(tmp_path / "other", a__py=GREETER)
    alike = ("--set", "actions.strategy.prefix.name=NoPrefix")
    run("evaluate", "--project", f"path:{project}", "--engine", "words", "--output", tmp_path / "night", *alike)
    code, report, said = compare(nights["words"], tmp_path / "night", tmp_path / "out")
    assert (code, report) == (3, {})
    assert "evaluate both on the same project" in " ".join(said.split())


def test_sessions_of_a_file_that_one_side_lacks_are_that_sides_alone(nights: dict[str, Path], tmp_path: Path) -> None:
    lacking = Path(shutil.copytree(nights["words"], tmp_path / "lacking"))
    gone = sorted((lacking / "sessions").iterdir())[0]
    gone.unlink()
    Workspace.open(lacking).seal()
    for base, new, side in ((nights["words"], lacking, "onlyBase"), (lacking, nights["words"], "onlyNew")):
        _, report, _ = compare(base, new, tmp_path / side)
        counts = {name: report[name] for name in ("onlyBase", "onlyNew", "changedText")}
        assert counts.pop(side) > 0
        assert set(counts.values()) == {0}


def test_sessions_pair_by_their_ids_where_one_side_has_few_of_a_file(tmp_path: Path) -> None:
    project = write(tmp_path / "p", a__py=GREETER * 4)
    made = []
    for name, more in (("all", ()), ("few", ("--sessions", 20))):
        made.append(tmp_path / name)
        what = ("--project", f"path:{project}", "--engine", "words", "--output", made[-1], "--jobs", 1)
        code, _, err = run("evaluate", *what, *more)
        assert code == 0, err
    code, report, said = compare(*made, tmp_path / "out")
    assert code == 0, said
    assert (report["paired"], report["onlyNew"]) == (20, 0)
    # The same engine gave the same answers: any difference would be one between other sessions.
    metrics = report["filters"]["ALL"]["metrics"]
    assert [metrics[name]["difference"] for name in ("RecallAt1", "RecallAt5", "Recall")] == [0, 0, 0]
