"""Gates as tests, for tools that read test reports."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree

from tests.comparing import compare


def test_each_gate_is_a_test_and_a_broken_one_a_failure(nights: dict[str, Path], tmp_path: Path) -> None:
    _, report, _ = compare(
        nights["oracle"], nights["words"], tmp_path / "c", "--gate", "RecallAt1 >= -1pp", "--gate", "Recall >= 1%"
    )
    suite = ElementTree.parse(tmp_path / "c" / "junit.xml").getroot()
    assert (suite.get("tests"), suite.get("failures")) == ("2", "1")
    assert [case.get("name") for case in suite] == [gate["rule"] for gate in report["gates"]]
    assert [case.find("failure") is None for case in suite] == [gate["passed"] for gate in report["gates"]]


def test_without_gates_the_comparison_itself_is_the_test(nights: dict[str, Path], tmp_path: Path) -> None:
    compare(nights["words"], nights["again"], tmp_path / "c")
    (case,) = ElementTree.parse(tmp_path / "c" / "junit.xml").getroot()
    assert (case.get("name"), len(case)) == ("compared", 0)
