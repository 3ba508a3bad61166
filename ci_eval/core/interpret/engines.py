"""The engine that a worker process keeps for all its files, and what running engines can report."""

from __future__ import annotations

import time
from collections.abc import Sequence
from types import TracebackType
from typing import Protocol, runtime_checkable

from ci_eval.core.base.errors import CiEvalError, EngineCrash, EngineFailure, EngineUnstarted
from ci_eval.core.contracts import Running
from ci_eval.core.interpret.assignments import Setup
from ci_eval.core.interpret.grading import Grading
from ci_eval.core.machine import read_peak_memory
from ci_eval.core.model import Footprint


@runtime_checkable
class Weighed(Protocol):
    def peak_memory(self) -> int | None:
        """Return the peak resident memory of the engine's processes, in bytes; None if it is not known."""


class CountedProcess(Protocol):
    def count_cpu(self) -> float:
        """Return the CPU seconds of the process and its children so far. The process may have ended."""


@runtime_checkable
class Counted(Protocol):
    @property
    def process(self) -> CountedProcess | None:
        """Return the running process, or None."""


@runtime_checkable
class Waiting(Protocol):
    """A running engine that waits until its server is ready."""

    def waited(self) -> tuple[float, int]:
        """Return the seconds spent waiting for announced work, and the number of starts whose work took too long."""

    @property
    def idle(self) -> float:
        """Return the seconds since the start that were spent waiting for announcements that did not come."""


@runtime_checkable
class Defining(Protocol):
    """A running engine that knows where names are defined."""

    def define(self, offset: int) -> Sequence[tuple[str, int, int]]:
        """Return the known definitions of the name at an offset of the open file. Each has a file (relative to the root
        if the file is below the root), a line, and a column in code points, both from 0. Raises EngineFailure."""


STARTS = 2


class _Asked:
    # This is not a @contextmanager, since entering a generator takes longer.
    def __init__(self, engine: KeptEngine) -> None:
        self._engine = engine
        self._began = 0.0

    def __enter__(self) -> None:
        self._began = time.perf_counter()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._engine.took(time.perf_counter() - self._began, answered=kind is None)
        self._engine.failed(error)


class KeptEngine:
    def __init__(self, setup: Setup) -> None:
        self.setup = setup
        around = setup.surroundings
        # Graders are loaded once, since loading takes a quarter of the time of a short file.
        self.grading = Grading(setup.task, around.language, around.cache, setup.judge, setup.run)
        self._running: Running | None = None
        self._starting: float | None = None
        """The seconds that the current start has taken so far; None if the engine has answered since the start."""
        self.asked = _Asked(self)
        self._start_ups: list[float] = []
        self._counted: CountedProcess | None = None
        self._cpu_before = 0.0
        """The CPU seconds of the processes before `_counted`."""
        self._start_cpus: list[float] = []
        self._memory: int | None = None
        self._weighed = 0
        self._waited = (0.0, 0)
        """The part of `_waiting()` that earlier footprints have counted."""
        self._waited_before = (0.0, 0)
        """The sum of `waited()` of the engines that have ended."""
        self._unstarted = 0
        """The number of consecutive failed starts."""
        self._why = ""
        self.dropped = 0
        """The number of unreadable items in the engine's lists since the last footprint."""
        self.unresolved = 0
        """The number of lists whose edits did not come in time since the last footprint."""

    def running(self) -> Running:
        if self._unstarted >= STARTS:
            raise EngineCrash(f"given up after {STARTS} starts that failed: {self._why}")
        if self._running is None:
            self._starting = 0.0
            try:
                self._running = self.setup.engine.start(self.setup.installation, self.setup.surroundings)
            except (CiEvalError, OSError) as error:
                raise EngineCrash(f"the engine could not be started: {error}") from error
        return self._running

    def restart(self) -> None:
        if self._running is None:
            return
        # Peak memory is read now, since it cannot be read after the process has ended.
        self._weigh()
        self.count_cpu()
        if self._unstarted:
            # The next question starts the engine, and counts a failed start; here, the failure would be lost.
            self.close()
            return
        began = time.perf_counter()
        try:
            self._running.restart()
        except (EngineFailure, OSError):
            # The next question starts the engine, and fails if the start fails.
            self.close()
        self._starting = time.perf_counter() - began

    def took(self, seconds: float, *, answered: bool) -> None:
        # A start takes until the first answer.
        if self._starting is not None:
            self._starting += seconds
            if answered:
                running: object = self._running
                idle = running.idle if isinstance(running, Waiting) else 0.0
                self._start_ups.append(round(1000 * max(self._starting - idle, 0.0), 3))
                self._starting = None
                if isinstance(running, Counted) and running.process and (cpu := running.process.count_cpu()):
                    self._start_cpus.append(round(1000 * cpu, 3))

    def failed(self, error: BaseException | None) -> None:
        if isinstance(error, EngineUnstarted):
            self._unstarted += 1
            self._why = str(error)
        elif error is None:
            self._unstarted = 0

    def count_cpu(self) -> float:
        """Return the CPU seconds of all processes so far; 0 without a process."""
        running: object = self._running
        process = running.process if isinstance(running, Counted) else None
        if process and process is not self._counted:
            self._cpu_before += self._counted.count_cpu() if self._counted else 0.0
            self._counted = process
        return self._cpu_before + (self._counted.count_cpu() if self._counted else 0.0)

    def footprint(self, *, alone: bool) -> Footprint:
        """Return the footprint since the last call. `alone`: whether this process asks no other engine."""
        self._weigh(alone=alone)
        seconds, unready = self._waiting()
        footprint = Footprint(
            start_ups=tuple(self._start_ups),
            start_cpus=tuple(self._start_cpus),
            dropped=self.dropped,
            unresolved=self.unresolved,
            waited=round(seconds - self._waited[0], 3),
            unready=unready - self._waited[1],
            memory=self._memory,
            weighed=self._weighed,
            of_worker=self._memory is not None and not self.setup.engine.own_process,
        )
        self._start_ups, self._start_cpus, self._memory, self._weighed = [], [], None, 0
        self._waited, self.dropped, self.unresolved = (seconds, unready), 0, 0
        return footprint

    def _waiting(self) -> tuple[float, int]:
        running: object = self._running
        now = running.waited() if isinstance(running, Waiting) else (0.0, 0)
        return self._waited_before[0] + now[0], self._waited_before[1] + now[1]

    def _weigh(self, *, alone: bool = False) -> None:
        memory = None
        if isinstance(self._running, Weighed):
            memory = self._running.peak_memory()
        # If a process holds several engines, their memory cannot be separated.
        elif self._running and alone and not self.setup.engine.own_process:
            memory = read_peak_memory("self")
        if memory is not None:
            self._memory = max(memory, self._memory or 0)
            self._weighed += 1

    @property
    def confined(self) -> str:
        try:
            return self._running.confined if self._running else ""
        except EngineFailure:
            # The engine is about to fail, which the next question reports.
            return ""

    def close(self) -> None:
        # The count of waiting is saved, since it ends with the running engine.
        self._waited_before = self._waiting()
        self.count_cpu()
        running, self._running = self._running, None
        if running:
            running.close()
