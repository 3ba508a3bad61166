"""A pool of worker processes, each with one task at a time; a worker that dies or hangs costs only its task.

Each has its own pipe: a shared pipe could stay locked, or hold half a message, after one of them was killed.
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
"""The seconds between two signs of life from a worker."""

GOODBYE = 10.0
"""The seconds that a worker has to end by itself."""

Task = TypeVar("Task")
Result = TypeVar("Result")

_CONTEXT = get_context("spawn")
"""The start method of processes. fork would copy the parent's other threads in whatever state they are."""


class TaskOutcome(msgspec.Struct, Generic[Task, Result], frozen=True):
    task: Task
    result: Result | None
    trouble: str = ""
    died: bool = False
    """True if the worker died."""


class Workers(Generic[Task, Result]):
    """A pool of processes that run one function. Task, function and result must be picklable."""

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
        """Store the job, without starting a process. `jobs`: the number of processes. `timeout`: the seconds that a
        task may take. `tries`: the number of workers that may die of a task before it is given up. `shared`: arguments
        before the task, which each worker gets once. `again`: a function that returns the task to do next in place of a
        task that failed, or None."""
        self._job = (function, shared)
        self._counter = _CONTEXT.RawValue(ctypes.c_uint64)
        self._jobs = jobs
        self._timeout = timeout
        self._tries = tries
        self._again = again
        self._retries: list[tuple[Task, int]] = []
        """Tasks that a worker has died of, with the number of tries left."""
        self._idle: list[_Worker] = []
        self._busy: dict[_Worker, tuple[Task, int]] = {}
        """Worker → its task, and the number of tries left."""
        self._stopped = False

    def __enter__(self) -> Workers[Task, Result]:
        return self

    def __exit__(self, kind: type[BaseException] | None, _: BaseException | None, __: TracebackType | None) -> None:
        workers = [*self._idle, *self._busy]
        seconds = 0.0 if kind or self._stopped else GOODBYE
        if seconds:
            # All pipes are closed first, so that the workers end at the same time.
            for worker in workers:
                worker.pipe.close()
        for worker in workers:
            worker.end(seconds)

    @property
    def counted(self) -> int:
        """Return about how many times `count` was called in all workers."""
        return int(self._counter.value)

    def stop(self) -> None:
        self._stopped = True

    def map(self, waiting: deque[Task]) -> Iterator[TaskOutcome[Task, Result] | None]:
        """Yield outcomes of tasks as they come, and None while waiting. Tasks may be added meanwhile."""
        while waiting or self._retries or self._busy:
            while (waiting or self._retries) and len(self._busy) < self._jobs:
                task, tries = self._retries.pop() if self._retries else (waiting.popleft(), self._tries)
                alive = [worker for worker in self._idle if worker.alive]
                messages = [task] if alive else [self._job, task]
                worker = alive.pop(0) if alive else _Worker(self._counter)
                self._idle = alive
                # The worker is known before it gets anything, so that it is killed if Ctrl-C cuts a message off.
                self._busy[worker] = task, tries
                for message in messages:
                    worker.send(message)
            # A worker has ended if it has sent something, or is dead or late.
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
        """Return None if the task is not over, or will be tried again."""
        task, tries = self._busy[worker]
        message = worker.listen() if worker.pipe.poll() else LATE
        if message is BEGUN:
            worker.deadline = time.monotonic() + (self._timeout or math.inf)
            return None
        del self._busy[worker]
        if isinstance(message, tuple):
            self._idle.append(worker)
            return TaskOutcome(task, *message)
        # A late worker hangs, so waiting for its end would not help.
        cause = worker.end(0.0 if message is LATE else GOODBYE)
        if message is LATE:
            return TaskOutcome(task, None, f"stopped after {self._timeout:g} s")
        if tries > 1:
            self._retries.append((task, tries - 1))
            return None
        return TaskOutcome(task, None, f"the worker process died ({cause})", died=True)


class _Sign(Enum):
    BEGUN = "it has its task; starting a process may take long, and is not the task's time"
    DEAD = "the end of its pipe"
    LATE = "nothing in time"


BEGUN, DEAD, LATE = _Sign


class _Worker:
    def __init__(self, counter: ctypes.c_uint64) -> None:
        self.pipe, worker_end = _CONTEXT.Pipe()
        self._process = _CONTEXT.Process(target=_serve, args=(worker_end, os.getpid(), counter), daemon=True)
        with _delay_interrupts(), _spare_process():
            self._process.start()
        # While this process holds the worker's end of the pipe, the worker's death does not close the pipe.
        worker_end.close()
        self.deadline = math.inf
        """The value of time.monotonic() at which its task counts as stuck."""

    @property
    def alive(self) -> bool:
        return self._process.is_alive()

    def send(self, value: object) -> None:
        self.deadline = math.inf
        # The death is noticed when the worker's answer is read.
        with suppress(BrokenPipeError, ConnectionResetError):
            self.pipe.send(value)

    def listen(self) -> tuple[Any, str] | _Sign:
        try:
            return cast("tuple[Any, str] | _Sign", self.pipe.recv())
        except (EOFError, ConnectionResetError):
            return DEAD

    def end(self, seconds: float) -> str:
        """Wait for the end of the process for so long, then kill it. Return how it ended."""
        if seconds:
            # The worker ends by itself when its pipe is closed; in the middle of a message it would print an error.
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
    """Count one more item as done, for the parent's progress bar. Outside of a worker, this does nothing."""
    for counter in _counters:
        # There is no lock, since a killed worker would never release it; a lost count only affects the progress bar.
        counter.value += 1


def _serve(pipe: Connection, parent: int, counter: ctypes.c_uint64) -> None:
    # Ctrl-C reaches all processes of a terminal, but the parent alone ends the workers.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
    if sys.platform == "linux":
        # The system kills the worker when its parent ends; if the system cannot, closed pipes end the worker.
        ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # 1 = PR_SET_PDEATHSIG
    machine.collect_rarely()
    # If the parent ended before prctl was called, its signal never comes.
    if os.getppid() != parent:
        os._exit(1)
    _counters.append(counter)
    # The parent closes its end of the pipe when there is nothing left to do.
    with suppress(EOFError, BrokenPipeError, ConnectionResetError):
        function, shared = pipe.recv()
        while True:
            task = pipe.recv()
            pipe.send(BEGUN)
            try:
                outcome = function(*shared, task), ""
            except Exception as error:  # noqa: BLE001  whatever a task raises in its worker costs that task alone
                outcome = None, "".join(traceback.format_exception_only(error)).strip()
            pipe.send(outcome)


@contextmanager
def _delay_interrupts() -> Iterator[None]:
    """Delay Ctrl-C to the end of the block. A process started in the block gets none until it unblocks SIGINT."""
    # The start of multiprocessing's tracker would unblock the signal.
    resource_tracker.ensure_running()
    is_main, interrupts = threading.current_thread() is threading.main_thread(), list[int]()
    # Python also handles, in this thread, a signal that another thread received, so its handler is replaced too.
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
    """In the block, let a started process have one thread, and not import the main module of this process."""
    # Workers share the cores, and threads that wait for each other on busy cores take ten times as long.
    chosen = THREADS in os.environ
    os.environ.setdefault(THREADS, "1")
    # A spawned process otherwise imports the whole command line, which takes longer than many a task.
    names = vars(sys.modules["__main__"])
    removed: dict[str, Any] = {name: names.pop(name) for name in ("__file__", "__spec__") if name in names}
    # multiprocessing reads the attribute without a default.
    names["__spec__"] = None
    try:
        yield
    finally:
        names.update(removed)
        if not chosen:
            del os.environ[THREADS]


THREADS = "OPENBLAS_NUM_THREADS"
"""The environment variable that numpy's OpenBLAS reads when it is loaded."""

CPU_LIMIT_S = 60.0
"""The CPU seconds for reading one answer, besides the engine's timeout: a hostile answer could take hours."""


@contextmanager
def limit_cpu(seconds: float) -> Iterator[None]:
    """Raise EngineTimeout in the block after that much CPU time; it stops slow regular expressions, too. Outside of the
    main thread there is no limit, since other threads get no signals."""
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
