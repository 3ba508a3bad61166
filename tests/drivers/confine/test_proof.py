"""What is open is found by trying it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from ci_eval.plugins.drivers.confine.proof import Stage, sentence, still_open
from tests.tree import below, left_after, orphans_stay


def test_without_walls_everything_of_ones_own_is_open(tmp_path: Path) -> None:
    canary, scratch, repository = tmp_path / "canary", tmp_path / "scratch", tmp_path / "project" / ".git" / "config"
    scratch.mkdir()
    repository.parent.mkdir(parents=True)
    for path in (canary, repository):
        path.write_text("x")
    stage = Stage(str(canary), os.getpid(), scratch=str(scratch), repository=str(repository))
    open_things = set(still_open(stage))
    assert {"reading files", "writing files", "listing folders", "signals", "links to files"} <= open_things
    assert {"dates of files", "the project's .git", "leaving the watch", "namespaces", "priorities"} <= open_things
    assert {"TCP", "UDP", "Unix sockets", "pairs of datagram sockets"} <= open_things
    assert list(scratch.iterdir()) == []


def test_what_is_not_there_is_not_open(tmp_path: Path) -> None:
    (tmp_path / "canary").write_text("x")
    assert not {"links to files", "the project's .git"} & set(still_open(Stage(str(tmp_path / "canary"), os.getpid())))


def test_the_sentence_names_walls_and_what_they_leave_open() -> None:
    walls = ["landlock 6", "seccomp"]
    assert sentence(walls, [], [], counted=True) == "landlock 6 + seccomp + control group, nothing found open"
    said = sentence(["seccomp"], ["signals"], ["old kernel"], counted=True)
    assert said == "seccomp + control group; open: signals (old kernel)"
    assert sentence([], ["signals"], ["not Linux"], counted=False) == "not confined: not Linux"


def test_without_a_control_group_memory_in_the_kernels_buffers_is_named_open() -> None:
    said = sentence(["seccomp"], [], [], counted=False)
    assert said == "seccomp; open: memory in pipes and sockets; otherwise nothing found open"
    assert sentence(["seccomp"], ["signals"], [], counted=False).endswith("open: signals, memory in pipes and sockets")


KILLED_MEANWHILE = """
import os, signal
from ci_eval.plugins.drivers.confine import proof
wait = os.waitpid
os.waitpid = lambda *asked: (wait(*asked), os.kill(os.getpid(), signal.SIGKILL))
proof._leave(None)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="looks for processes in /proc")
def test_an_attempt_whose_process_is_killed_leaves_none_behind() -> None:
    known = set(below(os.getpid()))
    with orphans_stay():
        subprocess.run([sys.executable, "-c", KILLED_MEANWHILE], check=False, timeout=60)
        assert left_after(known, seconds=20) == []
