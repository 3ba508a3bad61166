"""Worker processes with real deaths and delays."""

from __future__ import annotations

import os
import signal
import time

from ci_eval.support.workers import Workers


def work(task: str) -> str:
    if task == "die":
        os.kill(os.getpid(), signal.SIGKILL)
    if task == "raise":
        raise ValueError("no idea")
    if task == "hang":
        time.sleep(600)
    return task.upper()


def outcomes(tasks: list[str], *, timeout: float | None = None) -> dict[str, str | None]:
    with Workers[str, str](work, jobs=2, timeout=timeout) as workers:
        return {found.task: found.result or found.trouble for found in workers.map(tasks) if found}


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
