"""The job `compare` as users run it, over real evaluations with the controls and the baseline."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import msgspec
import pytest
import yaml

from ci_eval.workspace import Workspace
from tests.projects import GREETER, write


def run(*arguments: object) -> tuple[int, str, str]:
    argv = [sys.executable, "-m", "ci_eval", *map(str, arguments)]
    ended = subprocess.run(argv, capture_output=True, text=True, timeout=120, check=False)
    return ended.returncode, ended.stdout, ended.stderr


@pytest.fixture(scope="module")
def nights(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Evaluations of one project: words, twice, in the alphabet's order, and by the controls."""
    root = tmp_path_factory.mktemp("compare")
    files = {f"file{i:02}__py": GREETER + f"x{i} = {i}\nprint(x{i}, Greeter)\n" * (1 + i % 3) for i in range(24)}
    project = write(root / "p", **files)
    made = {}
    for name, engine, kind in (
        ("words", "words", "BASIC"),
        ("again", "words", "BASIC"),
        ("alphabet", "words", "ALPHABETICAL"),
        ("oracle", "oracle", "BASIC"),
    ):
        made[name] = root / name
        code, _, err = run(
            "evaluate", "--project", f"path:{project}", "--engine", engine, "--completion-type", kind,
            "--output", made[name], "--jobs", 1,
        )  # fmt: skip
        assert code == 0, err
    return made


def compare(base: Path, new: Path, output: Path, *more: object) -> tuple[int, dict[str, Any], str]:
    code, out, err = run("compare", base, new, "--output", output, *more)
    report = output / "comparison.json"
    return code, json.loads(report.read_text()) if report.exists() else {}, out + err


def test_the_same_engine_twice_is_equivalent(nights: dict[str, Path], tmp_path: Path) -> None:
    code, report, _ = compare(nights["words"], nights["again"], tmp_path / "out")
    assert code == 0
    assert (report["onlyBase"], report["onlyNew"], report["changedText"]) == (0, 0, 0)
    assert report["paired"] > 300
    metrics = report["filters"]["ALL"]["metrics"]
    assert {metrics[name]["verdict"] for name in report["declared"]} == {"equivalent"}
    assert {metrics[name]["difference"] for name in report["declared"]} == {0}


def test_the_control_that_knows_is_better_than_words(nights: dict[str, Path], tmp_path: Path) -> None:
    code, report, said = compare(nights["words"], nights["oracle"], tmp_path / "out")
    found = report["filters"]["ALL"]["metrics"]["RecallAt1"]
    assert code == 0
    assert (found["new"], found["verdict"]) == (1.0, "better")
    assert found["difference"] == pytest.approx(found["new"] - found["base"])
    assert found["low"] <= found["difference"] <= found["high"]
    assert report["losses"] == 0
    assert report["wins"] == sum(sum(row.values()) for band, row in report["transitions"].items() if band != "1")
    assert said.splitlines()[0] or said
    assert (tmp_path / "out" / "html" / "index.html").exists()
    assert len((tmp_path / "out" / "report.md").read_text()) < 65_000


def test_a_broken_gate_ends_with_1_and_its_reports_are_written(nights: dict[str, Path], tmp_path: Path) -> None:
    rules = ("--gate", "RecallAt1 >= -1pp", "--gate", "Recall >= 1%")
    code, report, said = compare(nights["oracle"], nights["words"], tmp_path / "out", *rules)
    assert code == 1
    assert [gate["passed"] for gate in report["gates"]] == [False, True]
    assert "1 of 2 gates failed" in said
    assert "✗ broken" in (tmp_path / "out" / "report.md").read_text()


def test_a_gate_of_the_configuration_counts(nights: dict[str, Path], tmp_path: Path) -> None:
    shutil.copytree(nights["words"], tmp_path / "new")
    config = tmp_path / "new" / "config.yaml"
    text = yaml.safe_load(config.read_text())
    config.write_text(yaml.safe_dump(text | {"comparison": {"gates": ["RecallAt1 >= 99%"]}}))
    code, report, _ = compare(nights["oracle"], tmp_path / "new", tmp_path / "out")
    assert (code, [gate["rule"] for gate in report["gates"]]) == (1, ["RecallAt1 >= 99%"])


@pytest.mark.parametrize(("key", "value"), [("strategy", "another"), ("client", "raw"), ("language", "go")])
def test_what_does_not_mean_the_same_is_refused(nights: dict[str, Path], tmp_path: Path, key: str, value: str) -> None:
    workspace = Workspace(Path(shutil.copytree(nights["words"], tmp_path / "new")))
    workspace.write_manifest(msgspec.structs.replace(workspace.manifest(), **{key: value}))
    code, _, said = compare(nights["words"], tmp_path / "new", tmp_path / "out")
    assert code == 2
    assert f"the {key} is" in said


def test_on_another_machine_times_are_not_compared(nights: dict[str, Path], tmp_path: Path) -> None:
    workspace = Workspace(Path(shutil.copytree(nights["words"], tmp_path / "new")))
    workspace.write_manifest(msgspec.structs.replace(workspace.manifest(), cpu="another"))
    rule = ("--gate", "LatencyPercentile95 <= +500%")
    code, report, said = compare(nights["words"], tmp_path / "new", tmp_path / "out", *rule)
    assert report["filters"]["ALL"]["metrics"]["LatencyPercentile95"]["verdict"] == "not-comparable"
    assert (code, report["gates"][0]["passed"]) == (1, False)
    assert "latencies are not comparable: CPU" in " ".join(said.split())


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
    run("evaluate", "--project", f"path:{project}", "--engine", "words", "--output", tmp_path / "night")
    code, report, said = compare(nights["words"], tmp_path / "night", tmp_path / "out")
    assert (code, report) == (3, {})
    assert "evaluate both on the same project" in " ".join(said.split())


def test_three_workspaces_are_each_compared_with_the_first(nights: dict[str, Path], tmp_path: Path) -> None:
    code, out, err = run("compare", nights["words"], nights["alphabet"], nights["oracle"], "--output", tmp_path / "out")
    assert code == 0, err
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == ["01-alphabet", "02-oracle"]
    assert out.splitlines()[-1] == str(tmp_path / "out")


def test_one_workspace_is_a_usage_error_and_no_workspace_is_named(nights: dict[str, Path], tmp_path: Path) -> None:
    assert run("compare", nights["words"])[0] == 2
    code, _, err = run("compare", nights["words"], tmp_path)
    assert (code, "is not a workspace" in err) == (2, True)
