"""The commands that README shows first, run as they stand there."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

README = (Path(__file__).parent.parent / "README.md").read_text(encoding="utf-8")
COMMANDS = re.findall(r"^(ci-eval (?:evaluate|compare-engines) .*?) --open +#", README, re.MULTILINE)


def test_readme_shows_an_evaluation_and_a_comparison_of_engines() -> None:
    assert [command.split()[1] for command in COMMANDS] == ["evaluate", "compare-engines"]


@pytest.mark.slow(minutes=2)
@pytest.mark.registry
@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command.split()[1])
def test_a_command_of_readme_ends_with_a_verdict_that_explains_itself(command: str, tmp_path: Path) -> None:
    _, *arguments = shlex.split(command)
    # The list of the slowest tests prints the time: on two free cores less than a minute each.
    argv = [sys.executable, "-m", "ci_eval", *arguments, "--output", str(tmp_path / "out")]
    done = subprocess.run(argv, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    said = " ".join(done.stdout.split())
    assert "first in the list" in said
    assert "(names, one letter typed)" in said
    assert str(tmp_path / "out") in done.stdout.splitlines()[-1]
    folder = "comparison" if arguments[0] == "compare-engines" else "reports"
    written = " ".join((tmp_path / "out" / folder / "report.md").read_text().split())
    assert "Keywords (counted separately): " in written
    if arguments[0] == "compare-engines":
        assert "zuban offers none" in written
        assert re.search(r"Time: \S.*\. Median [\d.,]+ ms → [\d.,]+ ms, 95 % of the lookups within ", written)
        # Which one is faster is a matter of the machine's other work, too.
        assert re.search(r"speed: (faster|slower|equivalent|not told apart)", said)
