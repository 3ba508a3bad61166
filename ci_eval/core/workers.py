"""A pool of worker processes. Each works on one task at a time; if a worker dies or hangs, only its task is lost.

Each worker has its own pipe. A shared pipe could stay locked, or contain half a message, after a worker is killed.
"""

from __future__ import annotations

import ctypes
import math
import os
import signal
import sys
import threading
import time
import traceback
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from enum import Enum
from multiprocessing import get_context, resource_tracker
from multiprocessing.connection import Connection, wait
from types import TracebackType
from typing import Any, Generic, TypeVar, cast

import msgspec

from ci_eval.core import machine
from ci_eval.core.base.errors import EngineTimeout

TICK = 0.5
"""The longest time in seconds that `Workers.map` waits before it yields None."""

GOODBYE = 10.0
"""The time in seconds that a worker has to exit by itself."""

Task = TypeVar("Task")
Result = TypeVar("Result")

_CONTEXT = get_context("spawn")
"""Processes are spawned. A fork would copy locks that other threads of the parent hold at that moment."""


class TaskOutcome(msgspec.Struct, Generic[Task, Result], frozen=True):
    task: Task
    result: Result | None
    trouble: str = ""
    died: bool = False


class Workers(Generic[Task, Result]):
    """A pool of processes that run one function. Tasks, function and results must be picklable."""

    def __init__(
        self,
        function: Callable[..., Result],
        *,
        jobs: int,
        timeout: float | None = None,
        tries: int = 1,
        shared: tuple[object, ...] = (),
        again: Callable[[TaskOutcome[Task, Result]], Task | None] | None = None,
    ) -> None:
        """Store the arguments; processes start later. `jobs`: the number of processes. `timeout`: the time limit of a
        task in seconds. `tries`: how often a task is started before it is given up, if its workers die. `shared`: the
        function's arguments before the task, which are sent once to each worker. `again`: a function that returns the
        task that replaces a failed task, or None."""
        self._job = (function, shared)
        self._counter = _CONTEXT.RawValue(ctypes.c_uint64)
        self._jobs = jobs
        self._timeout = timeout
        self._tries = tries
        self._again = again
        self._retries: list[tuple[Task, int]] = []
        """The tasks whose worker died, each with the number of tries that are left."""
        self._idle: list[_Worker] = []
        self._busy: dict[_Worker, tuple[Task, int]] = {}
        """Worker → its task, and the number of tries that are left."""
        self._stopped = False

    def __enter__(self) -> Workers[Task, Result]:
        return self

    def __exit__(self, kind: type[BaseException] | None, _: BaseException | None, __: TracebackType | None) -> None:
        workers = [*self._idle, *self._busy]
        seconds = 0.0 if kind or self._stopped else GOODBYE
        if seconds:
            # A worker exits when its pipe is closed. All pipes are closed first, so that no worker waits for another.
            for worker in workers:
                worker.pipe.close()
        for worker in workers:
            worker.end(seconds)

    @property
    def counted(self) -> int:
        """Return about how often `count` was called in all workers."""
        return int(self._counter.value)

    def stop(self) -> None:
        self._stopped = True

    def map(self, waiting: deque[Task]) -> Iterator[TaskOutcome[Task, Result] | None]:
        """Yield the outcomes of tasks as the tasks end, and None while waiting for the next outcome. The caller may
        add tasks to `waiting` between outcomes."""
        while waiting or self._retries or self._busy:
            while (waiting or self._retries) and len(self._busy) < self._jobs:
                task, tries = self._retries.pop() if self._retries else (waiting.popleft(), self._tries)
                alive = [worker for worker in self._idle if worker.alive]
                messages = [task] if alive else [self._job, task]
                worker = alive.pop(0) if alive else _Worker(self._counter)
                self._idle = alive
                # The worker is registered before the messages, so that it is killed if Ctrl-C interrupts a message.
                self._busy[worker] = task, tries
                for message in messages:
                    worker.send(message)
            # Find the workers that have sent a message, died, or exceeded the time limit.
            left = min(worker.deadline for worker in self._busy) - time.monotonic()
            ready = wait([worker.pipe for worker in self._busy], timeout=max(min(left, TICK), 0))
            now = time.monotonic()
            ended = [worker for worker in self._busy if worker.pipe in ready or worker.deadline < now]
            outcomes = [outcome for worker in ended if (outcome := self._outcome(worker))]
            for outcome in outcomes or (None,):
                if outcome and not outcome.result and self._again and (instead := self._again(outcome)):
                    waiting.appendleft(instead)
                    yield None
                else:
                    yield outcome

    def _outcome(self, worker: _Worker) -> TaskOutcome[Task, Result] | None:
        """Return the outcome of the worker's task; None if the task is still running or will be tried again."""
        task, tries = self._busy[worker]
        message = worker.listen() if worker.pipe.poll() else LATE
        if message is BEGUN:
            worker.deadline = time.monotonic() + (self._timeout or math.inf)
            return None
        del self._busy[worker]
        if isinstance(message, tuple):
            self._idle.append(worker)
            return TaskOutcome(task, *message)
        # A late worker is stuck, so it is killed at once.
        cause = worker.end(0.0 if message is LATE else GOODBYE)
        if message is LATE:
            return TaskOutcome(task, None, f"stopped after {self._timeout:g} s")
        if tries > 1:
            self._retries.append((task, tries - 1))
            return None
        return TaskOutcome(task, None, f"the worker process died ({cause})", died=True)


class _Sign(Enum):
    BEGUN = "the worker has received its task; the time before does not count, since a process may start slowly"
    DEAD = "the worker's pipe has ended"
    LATE = "the worker sent nothing in time"


BEGUN, DEAD, LATE = _Sign


class _Worker:
    def __init__(self, counter: ctypes.c_uint64) -> None:
        self.pipe, worker_end = _CONTEXT.Pipe()
        self._process = _CONTEXT.Process(target=_serve, args=(worker_end, os.getpid(), counter), daemon=True)
        with _delay_interrupts(), _spare_process():
            self._process.start()
        # If this process kept the worker's end open, the pipe would not close when the worker dies.
        worker_end.close()
        self.deadline = math.inf
        """The time (of `time.monotonic`) from which the worker's task counts as stuck."""

    @property
    def alive(self) -> bool:
        return self._process.is_alive()

    def send(self, value: object) -> None:
        self.deadline = math.inf
        # If the worker is dead, `listen` notices it.
        with suppress(BrokenPipeError, ConnectionResetError):
            self.pipe.send(value)

    def listen(self) -> tuple[Any, str] | _Sign:
        try:
            return cast("tuple[Any, str] | _Sign", self.pipe.recv())
        except (EOFError, ConnectionResetError):
            return DEAD

    def end(self, seconds: float) -> str:
        """Wait at most `seconds` for the process to exit, then kill it. Return the signal or exit code."""
        if seconds:
            # The worker exits when its pipe is closed. If closing cuts off a message, the worker prints an error.
            self.pipe.close()
            self._process.join(seconds)
        self._process.kill()
        self._process.join()
        self.pipe.close()
        code = self._process.exitcode or 0
        return signal.Signals(-code).name if code < 0 else f"exit code {code}"


# ------------------------------------------------------------------------------------------------------ in the worker

_counters: list[ctypes.c_uint64] = []


def count() -> None:
    """Count an item as done, for the parent's progress bar. This does nothing outside of a worker."""
    for counter in _counters:
        # There is no lock, since a killed worker would never release it. A lost count affects only the progress bar.
        counter.value += 1


def _serve(pipe: Connection, parent: int, counter: ctypes.c_uint64) -> None:
    # Ctrl-C is sent to all processes of a terminal. Workers ignore it, since the parent stops them.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
    if sys.platform == "linux":
        # Linux kills the worker when its parent dies. On other systems the worker exits because its pipe closes.
        ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # 1 = PR_SET_PDEATHSIG
    machine.collect_rarely()
    # If the parent died before prctl was called, there is no signal.
    if os.getppid() != parent:
        os._exit(1)
    _counters.append(counter)
    # The loop ends when the parent closes the pipe.
    with suppress(EOFError, BrokenPipeError, ConnectionResetError):
        function, shared = pipe.recv()
        while True:
            task = pipe.recv()
            pipe.send(BEGUN)
            try:
                outcome = function(*shared, task), ""
            except Exception as error:  # noqa: BLE001  an exception costs only the task that raises it
                outcome = None, "".join(traceback.format_exception_only(error)).strip()
            pipe.send(outcome)


@contextmanager
def _delay_interrupts() -> Iterator[None]:
    """Delay Ctrl-C to the end of the block. A process started in the block gets no SIGINT until it unblocks SIGINT."""
    # Start the resource tracker now: later, multiprocessing would start it with the first process and unblock SIGINT.
    resource_tracker.ensure_running()
    is_main, interrupts = threading.current_thread() is threading.main_thread(), list[int]()
    # Another thread may receive the signal. Python then calls the handler in the main thread: replace the handler, too.
    former = signal.signal(signal.SIGINT, lambda number, _: interrupts.append(number)) if is_main else None
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)
        if is_main:
            signal.signal(signal.SIGINT, former)
        if interrupts:
            signal.raise_signal(signal.SIGINT)


@contextmanager
def _spare_process() -> Iterator[None]:
    """Keep processes that are started in the block from importing the main module."""
    # The main module imports the whole command line, which takes longer than many tasks.
    names = vars(sys.modules["__main__"])
    removed: dict[str, Any] = {name: names.pop(name) for name in ("__file__", "__spec__") if name in names}
    # multiprocessing fails if the attribute is missing.
    names["__spec__"] = None
    try:
        yield
    finally:
        names.update(removed)


CPU_LIMIT_S = 60.0
"""The CPU seconds that reading one answer may take beyond the engine's timeout. A hostile answer could take hours."""


@contextmanager
def limit_cpu(seconds: float) -> Iterator[None]:
    """Raise EngineTimeout in the block after this CPU time, even in a slow regular expression. There is no limit
    outside of the main thread, since other threads cannot handle signals."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def stop(*_: object) -> None:
        raise EngineTimeout(f"its answer took more than {seconds:g} s of CPU to read")

    former = signal.signal(signal.SIGVTALRM, stop)
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, former)
