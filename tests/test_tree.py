"""What a test leaves behind is told from what was there before."""

from __future__ import annotations

import os
import signal
import subprocess
import sys

import pytest

from tests.tree import below, left_after, orphans_stay

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="looks for processes in /proc")


def test_what_was_there_before_may_start_processes() -> None:
    command = "read -r line; sleep 600 >/dev/null & echo $!; read -r line; kill $!"
    with subprocess.Popen(["sh", "-c", command], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as shared:
        assert shared.stdin is not None
        assert shared.stdout is not None
        known = set(below(os.getpid()))
        shared.stdin.write(b"\n")
        shared.stdin.flush()
        assert int(shared.stdout.readline()) in below(os.getpid())
        assert left_after(known, seconds=0) == []


def test_an_orphan_is_left() -> None:
    known = set(below(os.getpid()))
    with orphans_stay():
        orphan = int(subprocess.check_output(["sh", "-c", "sleep 600 >/dev/null & echo $!"]))
        assert left_after(known, seconds=0) == ["sleep 600 "]
        os.kill(orphan, signal.SIGKILL)
        os.waitpid(orphan, 0)
        assert left_after(known, seconds=0) == []
