"""Where ci-eval keeps its cache, and what processes hold."""

from __future__ import annotations

import math
import os
import subprocess
import sys
from pathlib import Path

import pytest

from ci_eval.core import machine
from ci_eval.core.machine import Watch, cache_folder, list_descendants, peak_below, read_peak_memory


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
def test_a_process_that_ends_during_the_search_has_no_descendants() -> None:
    child = subprocess.Popen(["sleep", "60"])
    descendants = list_descendants(os.getpid())
    # The search goes on below the children that it has yielded.
    waiting = {next(descendants)}
    child.kill()
    child.wait()
    assert child.pid in waiting | set(descendants)
    assert child.pid not in list_descendants(os.getpid())


@pytest.mark.skipif(sys.platform != "linux", reason="other systems do not tell")
def test_a_process_knows_what_it_held_itself() -> None:
    before = read_peak_memory("self")
    assert before
    # It may need more memory meanwhile.
    assert before <= (read_peak_memory(os.getpid()) or 0) <= before * 1.1


def test_of_a_process_that_is_not_there_nothing_is_known() -> None:
    assert read_peak_memory("nobody") is None


@pytest.mark.parametrize(
    ("microseconds", "load", "busy"), [(9_000_000, 0.5, True), (1_000, 0.5, False), (0, 40.0, True)]
)
def test_a_machine_on_which_processes_wait_is_busy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, microseconds: int, load: float, busy: bool
) -> None:
    file, clock = tmp_path / "cpu", iter([100.0, 110.0])
    line = "some avg10=1.00 avg60=2.00 avg300=3.00 total={}\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=7\n"
    monkeypatch.setattr("ci_eval.core.machine.time.monotonic", lambda: next(clock))
    monkeypatch.setattr(machine, "PRESSURE", file)
    monkeypatch.setattr(machine, "cores", lambda: 2)
    monkeypatch.setattr("ci_eval.core.machine.os.getloadavg", lambda: (load, 0.0, 0.0))
    file.write_text(line.format(5))
    watch = Watch()
    file.write_text(line.format(5 + microseconds))
    state = watch.state()
    assert (state.busy, state.load, state.cores) == (busy, load, 2)
    assert state.pressure == pytest.approx(microseconds / 1e7, abs=1e-3)


def test_a_system_that_does_not_say_how_long_processes_wait_is_judged_by_its_load(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(machine, "PRESSURE", tmp_path / "no such file")
    assert Watch().state().pressure is None


def test_times_are_told_apart_whatever_their_zone() -> None:
    same = ("2026-01-02T03:00:00+00:00", "2026-01-02T03:00:00Z", "2026-01-02T05:00:00+02:00", "2026-01-02T03:00:00")
    assert {machine.seconds(text) for text in same} == {1767322800.0}
    assert machine.seconds("2026-01-01T23:00:00-05:00") > machine.seconds(same[0])
    assert machine.seconds("yesterday") == machine.seconds("") == -math.inf


def test_two_evaluations_in_one_second_have_two_times() -> None:
    times: set[str] = set()
    while len(times) < 2:
        times.add(machine.now())
    earlier, later = sorted(machine.seconds(text) for text in times)
    assert 0 < later - earlier < 0.5
