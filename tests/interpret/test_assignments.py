"""Which sessions are asked."""

from __future__ import annotations

from pathlib import Path

from ci_eval.plugins.engines.controls import WORDS
from tests.jobs.test_pipeline import manifest
from tests.projects import ask, generate, sessions, setup


def test_probability_and_limit_choose_the_same_sessions_every_time(project: Path, tmp_path: Path) -> None:
    chosen = []
    for name in ("one", "two"):
        workspace = generate(project, tmp_path / name)
        # It has the classes that a limit draws from: none here.
        workspace.write_manifest(manifest({}, planned=0, finished=0))
        ask(workspace, setup(WORDS, project), probability=0.5, limit=7)
        chosen.append([session.id for session in sessions(workspace)])
    assert chosen[0] == chosen[1]
    assert len(chosen[0]) == 7


def test_a_smaller_share_is_part_of_a_larger_one(project: Path, tmp_path: Path) -> None:
    ask(small := generate(project, tmp_path / "s"), setup(WORDS, project), probability=0.2)
    ask(large := generate(project, tmp_path / "l"), setup(WORDS, project), probability=0.6)
    assert {session.id for session in sessions(small)} < {session.id for session in sessions(large)}
