"""What happens in a worker process."""

from __future__ import annotations

from pathlib import Path

from ci_eval.engines.oracle import ENGINE as ORACLE
from ci_eval.model import Status
from tests.projects import ask, generate, setup


def test_a_file_that_changed_after_stage_1_is_skipped(project: Path, tmp_path: Path) -> None:
    workspace = generate(project, tmp_path / "w")
    (project / "a.py").write_text("changed = 1\n")
    progress = ask(workspace, setup(ORACLE, project))
    assert progress.statuses[Status.SKIPPED] == next(f.sessions for f in workspace.actions() if f.path == "a.py")
    assert "has changed since" in workspace.errors()[0].message
