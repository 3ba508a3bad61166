"""Where ci-eval keeps its cache, and what processes hold."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from ci_eval.machine import cache_folder, peak_below, peak_of


def test_the_cache_is_where_the_variables_say_ours_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/h")
    monkeypatch.delenv("CI_EVAL_CACHE", raising=False)
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    assert cache_folder() == Path("/h/.cache/ci-eval")
    monkeypatch.setenv("XDG_CACHE_HOME", "/x")
    assert cache_folder() == Path("/x/ci-eval")
    monkeypatch.setenv("CI_EVAL_CACHE", "~/mine")
    assert cache_folder() == Path("/h/mine")


MEGABYTES = 80
HOLDS = f"x = b'x' * {MEGABYTES * 10**6}; del x; print('held', flush=True); input()"
"""A program that held so much once."""
STARTS_ONE = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {HOLDS!r}])"


@pytest.mark.skipif(sys.platform != "linux", reason="other systems do not tell")
def test_what_processes_below_held_once_is_known_while_they_run() -> None:
    with subprocess.Popen([sys.executable, "-c", STARTS_ONE], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout
        process.stdout.readline()
        below = peak_below(process.pid)
        process.communicate(b"\n")
    assert below is not None
    assert MEGABYTES * 10**6 < below < (MEGABYTES + 40) * 10**6
    assert peak_below(process.pid) is None


@pytest.mark.skipif(sys.platform != "linux", reason="other systems do not tell")
def test_a_process_knows_what_it_held_itself() -> None:
    assert peak_of("self") == pytest.approx(peak_of(os.getpid()))


def test_of_a_process_that_is_not_there_nothing_is_known() -> None:
    assert peak_of("nobody") is None
