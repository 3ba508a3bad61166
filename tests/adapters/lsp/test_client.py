"""The client's part of the protocol: what it waits for, answers and cancels."""

from __future__ import annotations

import os
import time

import pytest

from ci_eval.errors import EngineTimeout
from tests.adapters.lsp.conftest import TEXT, Start, ask


def test_a_server_that_obeys_a_cancellation_need_not_be_restarted(start: Start) -> None:
    server = start("silent-once", timeout=0.3)
    server.open("a.py", TEXT)
    with pytest.raises(EngineTimeout) as caught:
        ask(server)
    assert not caught.value.restart
    assert "one" in ask(server)


def test_announced_work_is_waited_for(start: Start) -> None:
    server = start("indexes")
    server.open("a.py", TEXT)
    assert "indexed" in ask(server)


def test_requests_of_the_server_are_answered(start: Start) -> None:
    server = start("asks")
    server.open("a.py", TEXT)
    assert ask(server) == ["wanted", "code32601"]


@pytest.mark.parametrize("way", ["", "never-ends", "silent", "floods"])
@pytest.mark.slow
def test_no_process_is_left(start: Start, way: str) -> None:
    server = start(way)
    server.open("a.py", TEXT)
    pid = server._running.pid
    started = time.monotonic()
    server.close()
    assert time.monotonic() - started < 10
    with pytest.raises(ProcessLookupError):
        os.killpg(pid, 0)
