"""The controls: one always knows, the other never answers."""

from __future__ import annotations

from pathlib import Path

from ci_eval.core.model import Status
from ci_eval.plugins.engines.controls import EMPTY, ORACLE
from tests.projects import GREETER, ask, generate, sessions, setup, write


def test_oracle_is_always_first_and_empty_never_answers(tmp_path: Path) -> None:
    project = write(tmp_path / "p", a__py=GREETER)
    ask(oracle := generate(project, tmp_path / "o"), setup(ORACLE, project))
    ask(empty := generate(project, tmp_path / "e"), setup(EMPTY, project))
    assert {session.lookups[-1].rank for session in sessions(oracle)} == {1}
    assert {session.status for session in sessions(empty)} == {Status.EMPTY}
