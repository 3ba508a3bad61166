"""Metrics and gates of a configuration, and when they are judged."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
import yaml

from ci_eval.workspace import Workspace
from tests.command import command as run
from tests.comparing import compare
from tests.projects import GREETER, write


def test_a_gate_of_the_configuration_counts(nights: dict[str, Path], tmp_path: Path) -> None:
    shutil.copytree(nights["words"], tmp_path / "new")
    config = tmp_path / "new" / "config.yaml"
    text = yaml.safe_load(config.read_text())
    config.write_text(yaml.safe_dump(text | {"comparison": {"gates": ["RecallAt1 >= 99%"]}}))
    Workspace(tmp_path / "new").seal()
    code, report, _ = compare(nights["oracle"], tmp_path / "new", tmp_path / "out")
    assert (code, [gate["rule"] for gate in report["gates"]]) == (1, ["RecallAt1 >= 99%"])


def test_without_a_night_before_gates_are_not_judged_and_that_is_said(nights: dict[str, Path], tmp_path: Path) -> None:
    rule = ("--gate", "RecallAt1 >= 0pp", "--history", tmp_path / "past", "--output", tmp_path / "out")
    code, _, err = run("compare", nights["words"], *rule)
    assert (code, "no gate was judged" in err) == (0, True)


def test_broken_gates_of_all_comparisons_are_named(nights: dict[str, Path], tmp_path: Path) -> None:
    given = (nights["oracle"], nights["words"], nights["alphabet"], "--output", tmp_path / "out")
    code, _, err = run("compare", *given, "--gate", "RecallAt1 >= -1pp", "--gate", "Recall >= 1%")
    assert code == 1
    said = " ".join(err.split())
    assert "2 of 4 gates failed" in said
    assert "words 0" in said
    assert "BASIC: RecallAt1 >= -1pp: the difference is" in said
    assert "ALPHABETICAL: RecallAt1 >= -1pp: the difference is" in said


@pytest.mark.parametrize(
    ("key", "said"),
    [("comparison.metrics=[Foo]", "'Foo' cannot be compared"), ("comparison.gates=['Foo >= 1']", "unknown metric")],
)
def test_what_cannot_be_compared_is_refused_before_the_night_runs(key: str, said: str, tmp_path: Path) -> None:
    project = write(tmp_path / "p", file__py=GREETER)
    code, _, err = run(
        "evaluate", "--project", f"path:{project}", "--engine", "words", "--set", key, "--output", tmp_path / "out"
    )
    assert code == 2
    assert said in " ".join(err.split())
    assert not (tmp_path / "out").exists()


def test_a_first_night_says_that_no_gate_was_judged_and_refuses_a_bad_one(
    nights: dict[str, Path], tmp_path: Path
) -> None:
    given = ("compare", nights["words"], "--history", tmp_path / "history")
    code, _, err = run(*given, "--gate", "Recall >= 1%", "--output", tmp_path / "out")
    assert (code, "no gate was judged" in err) == (0, True)
    code, _, err = run(*given, "--gate", "Foo >= 1%", "--output", tmp_path / "other")
    assert (code, "unknown metric" in err) == (2, True)
