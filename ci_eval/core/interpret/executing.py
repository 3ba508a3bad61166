"""The executors of a run: an executor's pool plays files; by default, in processes of this machine."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from types import TracebackType
from typing import Protocol

from ci_eval.core.interpret.assignments import Played, Turn
from ci_eval.core.interpret.recovery import Recovery
from ci_eval.core.interpret.worker import play_in_turn
from ci_eval.core.workers import TaskOutcome, Workers

Asked = TaskOutcome[Turn, tuple[Played, ...]]


class Pool(Protocol):
    """A pool that plays files, several at a time, for as long as its context lasts."""

    def __enter__(self) -> Pool: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...

    @property
    def counted(self) -> int:
        """Return about how many sessions were played, those of unfinished files among them; 0 if that is not known."""

    def map(self, waiting: deque[Turn]) -> Iterator[Asked | None]:
        """Yield the outcome of each file, as the outcomes come; None now and then while none comes."""

    def stop(self) -> None:
        """Stop without waiting for what is being played."""


class Executor(Protocol):
    """An executor that plays files; the answers do not depend on which one does."""

    def pool(self, most: int) -> Pool:
        """Return a pool. `most`: the number of files, beyond which more workers would be idle."""


@dataclass(frozen=True)
class LocalProcesses:
    """The processes of this machine, `jobs` at most."""

    jobs: int

    def pool(self, most: int) -> LocalPool:
        """Return a pool of processes; see `Executor.pool`."""
        return LocalPool(max(min(self.jobs, most), 1))


class LocalPool:
    """A pool of processes that each have engines of their own. If one dies, the next goes on with its file."""

    def __init__(self, jobs: int) -> None:
        self._workers = Workers[Turn, tuple[Played, ...]](play_in_turn, jobs=jobs)
        self._recovery = Recovery()

    def __enter__(self) -> LocalPool:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._workers.__exit__(kind, error, trace)

    @property
    def counted(self) -> int:
        """Return about how many sessions were played; see `Pool.counted`."""
        return self._workers.counted

    def map(self, waiting: deque[Turn]) -> Iterator[Asked | None]:
        """Yield the outcomes of the files; see `Pool.map`."""
        for outcome in self._workers.map(waiting):
            if outcome and not outcome.result and (again := self._recovery.again(outcome)):
                waiting.appendleft(again)
                yield None
            else:
                yield outcome

    def stop(self) -> None:
        """Stop the workers; see `Pool.stop`."""
        self._workers.stop()
