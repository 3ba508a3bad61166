"""Metrics and gates of a configuration, and when they are judged."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
import yaml

from ci_eval.core.workspace import Workspace
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


def test_a_gate_on_a_filter_that_is_not_there_is_refused_before_anything_runs(tmp_path: Path) -> None:
    project = write(tmp_path / "p", a__py=GREETER)
    common = ("evaluate", "--project", f"path:{project}", "--engine", "words", "--output", tmp_path / "o")
    code, _, err = run(*common, "--gate", "Recall[nmes] >= 10%")
    assert (code, "there is no filter 'nmes'" in " ".join(err.split())) == (2, True), err
    assert not (tmp_path / "o").exists()


def test_gates_without_a_base_fail_unless_it_is_said_to_be_the_first_night(
    nights: dict[str, Path], tmp_path: Path
) -> None:
    given = ("compare", nights["words"], "--history", tmp_path / "past", "--gate", "RecallAt1 >= 0pp")
    code, _, err = run(*given, "--output", tmp_path / "out")
    assert (code, "1 gate was not judged" in err) == (1, True)
    assert "give a base, or --first-night" in " ".join(err.split())
    code, _, err = run(*given, "--first-night", "--output", tmp_path / "first")
    assert (code, "no gate was judged" in err) == (0, True)


def test_broken_gates_of_all_comparisons_are_named(nights: dict[str, Path], tmp_path: Path) -> None:
    given = (nights["oracle"], nights["words"], nights["alphabet"], "--output", tmp_path / "out")
    code, out, err = run("compare", *given, "--gate", "RecallAt1 >= -1pp", "--gate", "Recall >= 1%")
    assert code == 1
    said = " ".join(err.split())
    assert "2 of 4 gates failed" in said
    assert "words 0" in said
    assert "BASIC: RecallAt1 >= -1pp" in said
    assert "ALPHABETICAL: RecallAt1 >= -1pp" in said
    # The figures are in the answer of each comparison, and only there.
    assert out.count("✗ RED   RecallAt1 >= -1pp   names: the difference is") == 2


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


def test_a_first_night_refuses_a_bad_gate(nights: dict[str, Path], tmp_path: Path) -> None:
    given = ("compare", nights["words"], "--history", tmp_path / "history", "--first-night")
    code, _, err = run(*given, "--gate", "Foo >= 1%", "--output", tmp_path / "other")
    assert (code, "unknown metric" in err) == (2, True)


class TestRoles:
    """The first folder is BASE, and all others are NEW."""

    @pytest.mark.parametrize("deeper", [("base",), ("base", "runs")])
    def test_a_folder_of_runs_is_base_alone(self, nights: dict[str, Path], tmp_path: Path, deeper: tuple[str]) -> None:
        shutil.copytree(nights["words"], tmp_path.joinpath(*deeper, "night"))
        gate = ("--gate", "RecallAt1 >= 100%", "--output", tmp_path / "out")
        code, _, err = run("compare", tmp_path / "base", nights["again"], *gate)
        assert (code, "1 of 1 gates failed" in " ".join(err.split())) == (1, True)
        assert "night" in json.loads((tmp_path / "out" / "comparison.json").read_text())["sides"]["base"]["workspace"]

    def test_a_folder_of_runs_as_new_is_refused_with_the_one_that_may_be_meant(
        self, nights: dict[str, Path], tmp_path: Path
    ) -> None:
        shutil.copytree(nights["words"], tmp_path / "holder" / "tonight")
        for new in (tmp_path, tmp_path / "holder", tmp_path / "holder" / "tonight" / "reports"):
            code, _, err = run("compare", nights["oracle"], new, "--gate", "RecallAt1 >= -1pp")
            said = "".join(err.split())
            assert (code, f"didyoumean{tmp_path}/holder/tonight?" in said) == (2, True), err

    def test_a_later_folder_of_runs_is_refused_too(self, nights: dict[str, Path], tmp_path: Path) -> None:
        shutil.copytree(nights["words"], tmp_path / "holder" / "tonight")
        code, _, err = run("compare", nights["oracle"], nights["words"], tmp_path / "holder")
        assert (code, "is not a workspace" in " ".join(err.split())) == (2, True)


class TestAbsolute:
    """Gates of a single evaluation."""

    def test_a_broken_gate_ends_with_1_and_stands_in_every_report(self, tmp_path: Path) -> None:
        project = write(tmp_path / "p", a__py=GREETER)
        common = ("evaluate", "--project", f"path:{project}", "--engine", "words", "--jobs", 1)
        gates = ("--gate", "Recall >= 0.999", "--gate", "LatencyPercentile50 <= 60000ms")
        code, out, err = run(*common, *gates, "--output", tmp_path / "o")
        assert code == 1, err
        assert "1 of 2 gates failed" in " ".join(err.split())
        assert [line.split()[1] for line in out.splitlines() if line.startswith("gate ")] == ["kept"]
        assert "✗ RED   Recall >= 0.999   names, one letter typed: Recall is" in out
        assert "✗ broken" in (tmp_path / "o" / "reports" / "report.md").read_text()
        (found,) = json.loads((tmp_path / "o" / "reports" / "metrics.json").read_text())["evaluations"]
        assert [gate["passed"] for gate in found["gates"]] == [False, True]
        assert run(*common, "--gate", "Recall >= 1%", "--output", tmp_path / "kept")[0] == 0

    def test_a_report_is_judged_anew(self, nights: dict[str, Path], tmp_path: Path) -> None:
        shutil.copytree(nights["oracle"], tmp_path / "w")
        assert run("report", tmp_path / "w", "--gate", "RecallAt1 >= 100%")[0] == 0
        shutil.copytree(nights["words"], tmp_path / "v")
        code, _, err = run("report", tmp_path / "w", tmp_path / "v", "--gate", "RecallAt1 >= 100%")
        assert (code, "1 of 1 gates failed" in err) == (1, True)

    @pytest.mark.parametrize(
        ("rule", "said"),
        [
            ("RecallAt1 >= -1pp", "is about a difference"),
            ("RecallAt1 non-inferior 1pp", "leave out + or -"),
            ("RecalAt1 >= 50%", "did you mean RecallAt1"),
        ],
    )
    def test_what_cannot_be_judged_is_refused_before_anything_runs(self, rule: str, said: str, tmp_path: Path) -> None:
        project = write(tmp_path / "p", a__py=GREETER)
        code, _, err = run("evaluate", "--project", f"path:{project}", "--gate", rule, "--output", tmp_path / "o")
        assert code == 2
        assert said in " ".join(err.split())
        assert not (tmp_path / "o").exists()

    def test_a_shard_is_not_judged(self, tmp_path: Path) -> None:
        code, _, err = run("evaluate", "--shard", "1/2", "--gate", "Recall >= 1%", "--output", tmp_path / "o")
        assert (code, "whole evaluation" in " ".join(err.split())) == (2, True)


def test_a_gate_may_be_about_what_the_engine_took_of_the_machine(nights: dict[str, Path], tmp_path: Path) -> None:
    shutil.copytree(nights["words"], tmp_path / "night")
    assert run("report", tmp_path / "night", "--gate", "PeakMemory <= 50000MB")[0] == 0
    code, said, _ = run("report", tmp_path / "night", "--gate", "PeakMemory <= 1MB")
    assert (code, "✗ RED   PeakMemory <= 1MB   PeakMemory is " in said) == (1, True)
    for rule in ("PeakMemory <= +1MB", "PeakMemory <= 1ms", "PeakMemory >= 1MB"):
        assert run("report", tmp_path / "night", "--gate", rule)[0] == 2
    # Of a comparison they are refused: no difference of them could be shown.
    code, _, said = run("compare", nights["words"], nights["again"], "--gate", "PeakMemory <= 1MB")
    assert (code, "unknown metric 'PeakMemory'" in " ".join(said.split())) == (2, True)
