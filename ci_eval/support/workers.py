"""Worker processes: one task at a time each; one that dies or hangs costs its task and nothing else."""

from __future__ import annotations

import ctypes
import os
import signal
import sys
import traceback
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, CancelledError, Future, wait
from concurrent.futures import TimeoutError as FutureTimeout
from dataclasses import dataclass
from multiprocessing import get_context
from multiprocessing.sharedctypes import Synchronized
from types import TracebackType
from typing import Generic, TypeVar

from pebble import ProcessExpired, ProcessPool

TICK = 0.5
"""Seconds between two signs of life."""

Task = TypeVar("Task")
Result = TypeVar("Result")


@dataclass(frozen=True)
class Outcome(Generic[Task, Result]):
    """What became of a task: a result, or else trouble in words."""

    task: Task
    result: Result | None
    trouble: str = ""


_counters: list[Synchronized[int]] = []
"""In a worker: the one it shares with its parent."""


_shared: list[object] = []
"""In a worker: the arguments that all its tasks have in common."""


def _call(function: Callable[..., Result], task: object) -> Result:
    return function(*_shared, task)


def count() -> None:
    """In a worker: tell the parent that one more is done. Elsewhere: nothing."""
    for counter in _counters:
        with counter.get_lock():
            counter.value += 1


class Workers(Generic[Task, Result]):
    """A pool of processes that run one function. Task, function and result must be picklable."""

    def __init__(
        self,
        function: Callable[..., Result],
        *,
        jobs: int,
        timeout: float | None,
        shared: tuple[object, ...] = (),
    ) -> None:
        """`timeout`: seconds one task may take. `shared`: arguments before the task; each worker gets them once."""
        self._function = function
        self._jobs = jobs
        self._timeout = timeout
        self._stopped = False
        # Not fork: the pool's own threads would be copied in whatever state they are.
        context = get_context("spawn")
        self._counter = context.Value(ctypes.c_uint64)
        self._pool = ProcessPool(
            max_workers=jobs, initializer=_begin, initargs=(os.getpid(), self._counter, shared), context=context
        )

    def __enter__(self) -> Workers[Task, Result]:
        return self

    def __exit__(self, kind: type[BaseException] | None, _: BaseException | None, __: TracebackType | None) -> None:
        if kind is None and not self._stopped:
            self._pool.close()  # type: ignore[no-untyped-call]
        else:
            self._pool.stop()  # type: ignore[no-untyped-call]
        self._pool.join()

    @property
    def counted(self) -> int:
        """How often `count` was called in the workers."""
        return int(self._counter.value)

    def stop(self) -> None:
        """Do not wait for what still runs."""
        self._stopped = True

    def map(self, tasks: Sequence[Task]) -> Iterator[Outcome[Task, Result] | None]:
        """The outcomes as they come, and None now and then while none comes."""
        waiting = iter(tasks)
        running: dict[Future[Result], Task] = {}
        for task in waiting:
            running[self._pool.schedule(_call, args=(self._function, task), timeout=self._timeout)] = task
            # One more than they can do at once, so that none waits; the rest stays here.
            while len(running) > self._jobs:
                yield from self._next(running)
        while running:
            yield from self._next(running)

    def _next(self, running: dict[Future[Result], Task]) -> Iterator[Outcome[Task, Result] | None]:
        done, _ = wait(running, timeout=TICK, return_when=FIRST_COMPLETED)
        if not done:
            yield None
        for future in done:
            yield _outcome(running.pop(future), future)


def _outcome(task: Task, future: Future[Result]) -> Outcome[Task, Result]:
    try:
        return Outcome(task, future.result())
    except ProcessExpired as error:
        return Outcome(task, None, f"the worker process died ({_cause(error.exitcode)})")
    except FutureTimeout as error:
        return Outcome(task, None, f"stopped after {error.args[1]:g} s")
    except CancelledError:
        return Outcome(task, None, "cancelled")
    except Exception as error:  # noqa: BLE001  whatever a task raises in its worker costs that task alone
        return Outcome(task, None, "".join(traceback.format_exception_only(error)).strip())


def _cause(code: int | None) -> str:
    if code is not None and code < 0:
        return signal.Signals(-code).name
    return f"exit code {code}"


def _begin(parent: int, counter: Synchronized[int], shared: tuple[object, ...]) -> None:
    """In the worker: Ctrl-C is the parent's to handle, and a worker does not outlive it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    die_with_parent()
    _counters.append(counter)
    _shared.extend(shared)
    if os.getppid() != parent:
        os._exit(1)


def die_with_parent() -> None:
    """Have this process killed when its parent ends, however it ends. Linux only; elsewhere closed pipes end it."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # 1 = PR_SET_PDEATHSIG
