"""The launcher that stays: memory of all that was started, and nothing left behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from ci_eval.core.base.errors import EngineCrash
from ci_eval.plugins.adapters.process import LineProcess, SandboxPolicy, find_installs
from ci_eval.plugins.drivers.confine import supervisor
from tests.tree import below, left_after, orphans_stay, runs
from tests.waiting import wait_for


def program(tmp_path: Path, code: str, memory: int = 0, remains: Path | None = None) -> LineProcess:
    walls = SandboxPolicy(memory=memory, remains=remains)
    return LineProcess([sys.executable, "-c", code], cwd=tmp_path, environment={}, walls=walls)


CHILDREN = """
import os, sys, time
for _ in range(3):
    if os.fork() == 0:
        os.setsid()
        held = b"x" * 150_000_000
        time.sleep(600)
input()
time.sleep(600)
"""


def test_memory_is_counted_over_all_it_started(tmp_path: Path) -> None:
    process = program(tmp_path, CHILDREN, memory=300_000_000)
    with pytest.raises(EngineCrash, match=r"used 0\.\d+ GB; interpret\.memoryLimit allows 0\.3 GB"):
        process.ask(b"", 20)
    process.close()


SHARING = """
import mmap, os, time
held = mmap.mmap(-1, 120_000_000)
for _ in range(4):
    if os.fork() == 0:
        for place in range(0, len(held), 4096):
            held[place] = 1
        time.sleep(600)
input()
time.sleep(2)
print(end=".\\n", flush=True)
time.sleep(600)
"""


def test_pages_that_processes_share_count_once(tmp_path: Path) -> None:
    process = program(tmp_path, SHARING, memory=300_000_000)
    assert process.ask(b"", 20) == b"."
    process.close()


@pytest.mark.skipif(not Path("/proc/1/task/1/children").exists(), reason="this kernel does not list children")
def test_both_ways_of_finding_descendants_agree() -> None:
    """The fast one is used while the program runs; where a kernel does not offer it, the other one."""
    code = "import os, time; os.fork(); os.fork(); print(end='.', flush=True); time.sleep(600)"
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, start_new_session=True) as family:
        try:
            assert family.stdout
            assert family.stdout.read(4) == b"...."
            fast, thorough = supervisor.count_pages(), supervisor.descendants()
            assert len(thorough) >= 4
            assert fast.keys() == thorough.keys()
            assert sum(fast.values()) == pytest.approx(sum(thorough.values()), rel=0.1)
        finally:
            os.killpg(family.pid, signal.SIGKILL)


WATCHED = """
import os, subprocess, sys
sys.path[:] = {path!r}
from ci_eval.plugins.drivers.confine import supervisor
from ci_eval.plugins.drivers.confine.supervisor import Cgroups
from ci_eval.plugins.drivers.confine.calls import SUBREAPER, prctl
del supervisor.descendants
prctl(SUBREAPER)
family = subprocess.Popen([{python!r}, "-c", {family!r}], stdout=subprocess.PIPE, start_new_session=True)
sys.stdout.write(family.stdout.read(4).decode())
supervisor.end_all(family.pid, Cgroups(0, 100))
print("ended")
"""
FAMILY = "import os, time; os.fork(); os.fork(); print(end='.', flush=True); time.sleep(600)"


@pytest.mark.skipif(not Path("/proc/1/task/1/children").exists(), reason="this kernel does not list children")
def test_an_engine_ends_without_a_look_at_other_processes(tmp_path: Path) -> None:
    code = WATCHED.format(path=sys.path, python=sys.executable, family=FAMILY)
    ended = subprocess.run([sys.executable, "-c", code], stdout=subprocess.PIPE, cwd=tmp_path, timeout=60, check=True)
    assert ended.stdout == b"....ended\n"


STAND_IN = """
import sys, time
from pathlib import Path
sys.path[:] = {path!r}
from ci_eval.plugins.adapters.process import SandboxPolicy
from ci_eval.plugins.adapters.process import LineProcess
code = "import os; input(); os.fork() or os.setsid(); print(os.getpid(), flush=True); import time; time.sleep(600)"
walls = SandboxPolicy(remains=Path({remains!r}))
process = LineProcess([sys.executable, "-c", code], cwd=Path({folder!r}), environment={{}}, walls=walls)
print(process.ask(b"", 20).decode(), flush=True)
time.sleep(600)
"""


def test_if_ci_eval_is_killed_nothing_is_left(tmp_path: Path) -> None:
    remains = tmp_path / "remains"
    remains.mkdir()
    code = STAND_IN.format(path=sys.path, folder=str(tmp_path), remains=str(remains))
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True) as caller:
        assert caller.stdout
        engine = int(caller.stdout.readline())
        caller.send_signal(signal.SIGKILL)
    wait_for(lambda: not runs(engine) and not remains.exists(), seconds=10)


def test_a_program_that_never_pauses_is_a_timeout(tmp_path: Path) -> None:
    process = program(tmp_path, "import sys\nwhile True: sys.stdout.write('x'); sys.stdout.flush()")
    with pytest.raises(Exception, match="did not answer in time"):
        process.ask(b"", 0.5)
    process.close()


KILLED_AT_ONCE = """
import os, signal, subprocess, sys
from ci_eval.plugins.adapters.process import SandboxPolicy
command = SandboxPolicy().around([sys.executable, "-c", "import time; time.sleep(600)"], -1)
subprocess.Popen(command, start_new_session=True)
os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.mark.needs("strace")
def test_a_program_between_caller_and_starter_is_no_dead_caller(tmp_path: Path) -> None:
    command = SandboxPolicy().around([sys.executable, "-c", "import time; time.sleep(1.5); print('lived')"], -1)
    done = subprocess.run(["strace", "-f", "-qq", "-e", "trace=none", *command], capture_output=True, check=True)
    assert done.stdout == b"lived\n"


def test_a_process_that_nobody_waited_for_has_ended() -> None:
    with subprocess.Popen([sys.executable, "-c", ""]) as process:
        wait_for(lambda: supervisor.has_ended(process.pid), seconds=20)
        assert process.returncode is None
    assert supervisor.has_ended(process.pid)
    assert not supervisor.has_ended(os.getpid())


def test_a_caller_killed_before_the_starter_has_begun_is_missed() -> None:
    known = set(below(os.getpid()))
    with orphans_stay():
        subprocess.run([sys.executable, "-c", KILLED_AT_ONCE], check=False, timeout=60)
        assert left_after(known, seconds=20) == []


HOPPING = """
import os, sys, time
for _ in range({lines}):
    if not os.fork():
        os.setsid()
        end = time.time() + 60
        while time.time() < end:
            time.sleep(.003)
            if os.fork():
                os._exit(0)
input()
print(os.getpgrp(), flush=True)
time.sleep(60)
"""
HIDDEN = {
    "of a process whose first thread ended": """
import ctypes, threading, time
def hold():
    held = bytearray(400_000_000)
    time.sleep(60)
threading.Thread(target=hold).start()
ctypes.CDLL(None).pthread_exit(None)
""",
    "of page tables": """
import ctypes, mmap, time
libc = ctypes.CDLL(None)
libc.mmap.restype = ctypes.c_void_p
for _ in range(200):
    begin = libc.mmap(None, ctypes.c_size_t(1 << 30), 1, 0x4022, -1, ctypes.c_long(0))
    libc.madvise(ctypes.c_void_p(begin), ctypes.c_size_t(1 << 30), 15)
    for offset in range(0, 1 << 30, 1 << 21):
        ctypes.c_char.from_address(begin + offset).value
time.sleep(60)
""",
}
"""Memory that pages in use do not show."""


@pytest.fixture
def confined(tmp_path: Path) -> Iterator[Callable[..., LineProcess]]:
    processes: list[LineProcess] = []
    canary, own = tmp_path / "canary", tmp_path / "own"
    canary.write_text("x")
    own.mkdir()

    def start(code: str, memory: int = 0) -> LineProcess:
        runs = tuple(find_installs(sys.executable))
        walls = SandboxPolicy(confine="auto", runs=runs, writes=(own,), canary=canary, memory=memory)
        processes.append(LineProcess([sys.executable, "-c", code], cwd=own, environment={}, walls=walls))
        return processes[-1]

    yield start
    for process in processes:
        process.close()


def is_empty(group: int) -> bool:
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return True
    return False


@pytest.mark.parametrize("lines", [1, 6, 12])
def test_lines_of_processes_that_start_others_and_end_do_not_outlive_it(
    complete_walls: None, confined: Callable[..., LineProcess], lines: int
) -> None:
    process = confined(HOPPING.format(lines=lines))
    group = int(process.ask(b"", 60))
    process.close()
    assert is_empty(group)


def test_a_supervisor_that_cannot_end_them_is_replaced_by_ci_eval(
    complete_walls: None, confined: Callable[..., LineProcess], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ci_eval.plugins.adapters.process.ENDING", 0.1)
    process = confined(HOPPING.format(lines=4))
    group = int(process.ask(b"", 60))
    os.kill(process.pid, signal.SIGSTOP)
    process.close()
    # Who has ended is in the group until its new parent asks for its status.
    wait_for(lambda: is_empty(group), seconds=20)


@pytest.mark.parametrize("kind", HIDDEN)
def test_memory_counts_although_no_page_in_use_shows_it(
    complete_walls: None, confined: Callable[..., LineProcess], kind: str
) -> None:
    process = confined(HIDDEN[kind], memory=200_000_000)
    with pytest.raises(EngineCrash):
        process.ask(b"", 60)
    process.close()
    assert any("interpret.memoryLimit allows" in line for line in process.last_words())


def test_threads_count_as_processes_do(confined: Callable[..., LineProcess]) -> None:
    many = "import threading, time\nfor _ in range(3000): threading.Thread(target=time.sleep, args=(60,)).start()"
    process = confined(many, memory=4_000_000_000)
    with pytest.raises(EngineCrash):
        process.ask(b"", 60)
    process.close()
    assert any("processes" in line for line in process.last_words())
