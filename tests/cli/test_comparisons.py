"""Commands that compare."""

from __future__ import annotations

from pathlib import Path

from tests.ci.parsers import service_messages
from tests.cli.conftest import Run


def test_a_broken_gate_is_one_problem_of_the_build_and_not_two(run: Run, project: Path, tmp_path: Path) -> None:
    run("evaluate", "--project", f"path:{project}", "--engine", "words", "--output", tmp_path / "a")
    gate = ["--gate", "RecallAt1 >= 99%", "--output", tmp_path / "c"]
    ended, out, _ = run("--ci", "teamcity", "compare", tmp_path / "a", tmp_path / "a", *gate)
    told = [values["identity"] for name, values in service_messages(out) if name == "buildProblem"]
    assert (ended, len(told), told[0][:5]) == (1, 1, "gate_")
