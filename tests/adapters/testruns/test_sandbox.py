"""A test that means harm: nothing of it reaches the machine, outlives its run, or makes it pass."""

from __future__ import annotations

import os
import socket
import tempfile
import time
from pathlib import Path

import pytest

from tests.adapters.testruns.shops import outcome
from tests.tree import below

pytestmark = [pytest.mark.registry, pytest.mark.slow]


def hostile(body: str, *, timeout: float = 20.0, memory: int = 4 << 30) -> str:
    """What is said of a test that does so."""
    lines = "\n".join(f"    {line}" for line in body.splitlines())
    test = f"import ctypes, os, pathlib, socket, subprocess, sys, time\ndef test_harm():\n{lines}\n"
    found = outcome("python", test, timeout=timeout, memory=memory)
    return "passes" if found.passes else found.said


def test_it_can_neither_read_nor_write_outside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CI_TOKEN", "a-secret")
    (tmp_path / "secret").write_text("s3cret")
    assert "Permission denied" in hostile(f"print(open({str(tmp_path / 'secret')!r}).read())")
    assert "Permission denied" in hostile(f"open({str(tmp_path / 'new')!r}, 'w')")
    assert "Permission denied" in hostile("os.mkdir('/dev/shm/harm')")
    assert hostile("assert 'CI_TOKEN' not in os.environ") == "passes"
    assert [path.name for path in tmp_path.iterdir()] == ["secret"]


def test_it_connects_to_nothing() -> None:
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        server.listen()
        said = hostile(f"socket.create_connection(('127.0.0.1', {server.getsockname()[1]}), 5)")
    assert "Operation not permitted" in said or "Permission denied" in said


def test_what_it_sends_into_the_background_ends_with_it() -> None:
    before = set(below(os.getpid()))
    fork = "if os.fork() == 0:\n    os.setsid()\n    if os.fork() == 0:\n        time.sleep(600)\n    os._exit(0)"
    started = time.monotonic()
    assert hostile(fork) == "passes"
    assert time.monotonic() - started < 15
    assert set(below(os.getpid())) - before == set()


def test_endless_loops_memory_and_output_are_limited() -> None:
    assert hostile("while True: pass", timeout=4) == "it was not done after 4 s"
    assert "interpret.memoryLimit" in hostile("x = bytearray(1 << 30)\ntime.sleep(5)", memory=1 << 29)
    assert hostile("os.write(1, b'x' * (100 << 20))") == "passes"
    assert len(hostile("print('x' * (100 << 20))\nassert False")) < 10_000


def test_closing_its_output_does_not_end_the_wait() -> None:
    assert hostile("os.close(1); os.close(2)\nwhile True: time.sleep(1)", timeout=4) == "it was not done after 4 s"


def test_a_report_that_is_a_link_a_pipe_or_full_of_entities_is_none() -> None:
    where = "report = pathlib.Path(os.environ['TMPDIR'], 'report.xml')\n"
    forged = "<!DOCTYPE x [<!ENTITY a 'b'>]><testsuite><testcase name='test_harm'/></testsuite>"
    for made in ("report.symlink_to('/etc/passwd')", "os.mkfifo(report)", f"report.write_text({forged!r})"):
        assert "without a report" in hostile(f"{where}{made}\nos._exit(0)")


def test_an_exit_code_alone_does_not_make_it_pass() -> None:
    assert "without a report (exit code 0)" in hostile("os._exit(0)")
    assert "without a report" in hostile("os.kill(os.getpid(), 9)")


def test_nothing_of_a_run_remains(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    hostile("os.makedirs('a/b')\nos.symlink('/', 'a/root')")
    assert list(tmp_path.iterdir()) == []
