"""A module of Python that may start no other program."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from ci_eval.plugins.adapters.place import DRIVERS
from tests.waiting import HANGS


def alone(folder: Path, code: str) -> subprocess.CompletedProcess[str]:
    (folder / "victim.py").write_text(code)
    command = [sys.executable, str(DRIVERS / "alone.py"), "victim", "--given"]
    return subprocess.run(
        command, env={"PYTHONPATH": str(folder)}, capture_output=True, text=True, check=False, timeout=HANGS
    )


@pytest.mark.parametrize(
    "code",
    [
        "import subprocess; subprocess.run(['/bin/touch', 'made'])",
        "import os; os.system('touch made')",
        "import os; os.execv('/bin/touch', ['touch', 'made'])",
        "import os; os.posix_spawn('/bin/touch', ['touch', 'made'], {})",
        "import os; os.fork()",
    ],
    ids=["subprocess", "system", "exec", "spawn", "fork"],
)
def test_no_way_leads_to_another_program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: str) -> None:
    monkeypatch.chdir(tmp_path)
    ended = alone(tmp_path, code)
    assert ended.returncode == 1
    assert "ci-eval lets victim start no program" in ended.stderr
    assert not (tmp_path / "made").exists()


def test_the_module_itself_runs_as_if_it_were_alone(tmp_path: Path) -> None:
    ended = alone(tmp_path, "import sys; print(__name__, sys.argv[1:])")
    assert (ended.returncode, ended.stdout) == (0, "__main__ ['--given']\n"), ended.stderr
