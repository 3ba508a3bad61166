"""Worker processes with real deaths and delays."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from collections import deque
from concurrent.futures import ThreadPoolExecutor
from multiprocessing import active_children
from multiprocessing.context import SpawnProcess
from pathlib import Path

import pytest

from ci_eval.core.base.errors import EngineTimeout
from ci_eval.core.workers import Workers, limit_cpu


def work(task: str) -> str:
    if task == "die":
        os.kill(os.getpid(), signal.SIGKILL)
    if task == "raise":
        raise ValueError("no idea")
    if task.startswith("die once, then "):
        note = Path(task.removeprefix("die once, then "))
        if not note.exists():
            note.touch()
            os.kill(os.getpid(), signal.SIGKILL)
    if task == "hang":
        time.sleep(600)
    return task.upper()


def work_on(_shared: str, task: str) -> str:
    return task.upper()


def outcomes(tasks: list[str], *, timeout: float | None = None) -> dict[str, str | None]:
    with Workers[str, str](work, jobs=2, timeout=timeout) as workers:
        return {found.task: found.result or found.trouble for found in workers.map(deque(tasks)) if found}


def test_every_task_has_an_outcome() -> None:
    assert outcomes(["a", "b", "c"]) == {"a": "A", "b": "B", "c": "C"}


def test_a_worker_that_dies_costs_its_task() -> None:
    assert outcomes(["a", "die", "b", "c"]) == {
        "a": "A",
        "die": "the worker process died (SIGKILL)",
        "b": "B",
        "c": "C",
    }


def test_a_task_that_takes_too_long_is_stopped() -> None:
    assert outcomes(["hang", "a"], timeout=1.0) == {"hang": "stopped after 1 s", "a": "A"}


def test_what_a_task_raises_is_its_trouble() -> None:
    assert outcomes(["raise", "a"]) == {"a": "A", "raise": "ValueError: no idea"}


def test_a_task_whose_worker_dies_is_tried_again_where_that_is_wanted(tmp_path: Path) -> None:
    tasks = deque([f"die once, then {tmp_path / 'note'}", "die"])
    with Workers[str, str](work, jobs=1, tries=2) as workers:
        found = [outcome for outcome in workers.map(tasks) if outcome]
    assert [(outcome.result is None, outcome.died) for outcome in found] == [(False, False), (True, True)]


def test_a_worker_that_is_killed_while_it_has_nothing_to_do_costs_nothing() -> None:
    tasks = deque(["a", "b"])
    with Workers[str, str](work, jobs=2) as workers:
        results = []
        for outcome in filter(None, workers.map(tasks)):
            results.append(outcome.result)
            if len(results) == 2:
                for worker in active_children():
                    worker.kill()
                    worker.join()
                tasks.extend(["c", "d"])
    assert set(results) == {"A", "B", "C", "D"}


def test_a_worker_that_is_killed_before_it_reads_what_it_gets_holds_up_nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    start = SpawnProcess.start
    killed: list[SpawnProcess] = []

    def start_and_kill(process: SpawnProcess) -> None:
        start(process)
        if not killed:
            process.kill()
            killed.append(process)

    monkeypatch.setattr(SpawnProcess, "start", start_and_kill)
    with Workers[str, str](work_on, jobs=1, tries=2, shared=("x" * 10_000_000,)) as workers:
        assert [outcome.result for outcome in workers.map(deque(["a"])) if outcome] == ["A"]


def modules(_task: str) -> list[str]:
    return list(sys.modules)


def test_a_worker_does_not_import_the_main_module(tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(
        "import only_main_needs_it\n"
        "from collections import deque\n"
        "from ci_eval.core.workers import Workers\n"
        "from tests.test_workers import modules\n"
        "if __name__ == '__main__':\n"
        "    with Workers(modules, jobs=1) as workers:\n"
        "        found = [each.result for each in workers.map(deque(['x'])) if each]\n"
        "    print('only_main_needs_it' in found[0])\n"
    )
    (tmp_path / "only_main_needs_it.py").write_text("")
    path = os.pathsep.join([str(Path(__file__).parents[1]), str(tmp_path)])
    done = subprocess.run(
        [sys.executable, program], env={**os.environ, "PYTHONPATH": path}, capture_output=True, text=True, check=False
    )
    assert (done.stdout.strip(), done.stderr) == ("False", "")


def test_a_pattern_that_would_never_end_is_stopped() -> None:
    with pytest.raises(EngineTimeout, match=r"more than 0.2 s of CPU"), limit_cpu(0.2):
        re.match(r"(a+)+$", "a" * 60 + "b")


def test_afterwards_there_is_no_limit_any_more() -> None:
    with limit_cpu(30):
        pass
    assert signal.getitimer(signal.ITIMER_VIRTUAL) == (0, 0)
    assert signal.getsignal(signal.SIGVTALRM) is signal.SIG_DFL


def test_a_thread_has_none() -> None:
    def read() -> bool:
        with limit_cpu(0.01):
            return re.match(r"(a+)+$", "a" * 18 + "b") is None

    with ThreadPoolExecutor(1) as threads:
        assert threads.submit(read).result()
