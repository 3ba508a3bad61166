"""All files of a workspace, dealt out to workers."""

from __future__ import annotations

from pathlib import Path

import pytest

from ci_eval.core.interpret import EngineSide, play_files
from ci_eval.core.model import Status
from ci_eval.core.workspace import Workspace
from ci_eval.plugins.engines.empty import ENGINE as EMPTY
from ci_eval.plugins.engines.oracle import ENGINE as ORACLE
from ci_eval.plugins.engines.words import ENGINE as WORDS
from tests.faulty import Faulty
from tests.projects import ask, generate, sessions, setup, write


def test_every_planned_session_has_a_status(project: Path, tmp_path: Path) -> None:
    workspace = generate(project, tmp_path / "w")
    progress = ask(workspace, setup(WORDS, project))
    assert progress.planned == progress.statuses.total() == sum(file.sessions for file in workspace.actions())


def test_a_run_in_which_most_sessions_fail_is_given_up(tmp_path: Path) -> None:
    root = write(tmp_path / "p", **{f"f{i}__py": "x\n" * 60 for i in range(6)})
    progress = ask(generate(root, tmp_path / "w"), setup(Faulty("always exits"), root))
    assert progress.given_up
    assert progress.statuses[Status.SKIPPED] > 0
    assert progress.statuses.total() == progress.planned == 6 * 60


@pytest.mark.parametrize("rounds", [1, 2])
def test_an_engine_that_is_given_up_costs_the_other_one_nothing(tmp_path: Path, rounds: int) -> None:
    root = write(tmp_path / "p", **{f"f{i}__py": "x\n" * 60 for i in range(3)})
    sides = [
        EngineSide(generate(root, tmp_path / name), setup(engine, root))
        for name, engine in (("base", WORDS), ("new", Faulty("always exits")))
    ]
    base, new = play_files(sides, probability=1.0, limit=None, jobs=1, rounds=rounds, advance=lambda *_: None)
    assert (base.given_up, base.statuses[Status.OK], base.statuses[Status.SKIPPED]) == ("", 180, 0)
    assert "the engine failed on" in new.given_up
    assert new.given_up.endswith(new.trouble)
    assert new.trouble
    # What it was asked before stands as it was.
    assert new.statuses[Status.ENGINE_CRASH] > 0
    assert new.statuses.total() == 180


def test_the_number_of_workers_changes_nothing(project: Path, tmp_path: Path) -> None:
    ask(one := generate(project, tmp_path / "1"), setup(WORDS, project), jobs=1)
    ask(two := generate(project, tmp_path / "2"), setup(WORDS, project), jobs=2)

    def timeless(workspace: Workspace) -> list[object]:
        return [(s.id, s.status, [(k.rank, k.suggestions) for k in s.lookups]) for s in sessions(workspace)]

    assert timeless(one) == timeless(two)


def test_files_that_are_done_are_not_asked_again(project: Path, tmp_path: Path) -> None:
    workspace = generate(project, tmp_path / "w")
    ask(workspace, setup(ORACLE, project))
    done = next((tmp_path / "w" / "sessions").glob("a.py*"))
    done.unlink()
    progress = ask(workspace, setup(EMPTY, project))
    assert progress.statuses[Status.EMPTY] == next(f.sessions for f in workspace.actions() if f.path == "a.py")
    assert progress.statuses[Status.OK] > 0
