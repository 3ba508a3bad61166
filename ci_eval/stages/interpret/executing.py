"""Where files are asked about: an executor's pool plays them; by default, in processes of this machine."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from types import TracebackType
from typing import Protocol

from ci_eval.stages.interpret.assignments import Played, Turn
from ci_eval.stages.interpret.recovery import Recovery
from ci_eval.stages.interpret.worker import play_in_turn
from ci_eval.workers import TaskOutcome, Workers

Asked = TaskOutcome[Turn, tuple[Played, ...]]


class Pool(Protocol):
    """Plays files, several at a time, for as long as its context lasts."""

    def __enter__(self) -> Pool: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...

    @property
    def counted(self) -> int:
        """About how many sessions were played, those of unfinished files among them; 0 where that is not known."""

    def map(self, waiting: deque[Turn]) -> Iterator[Asked | None]:
        """What became of each file, as they come; None now and then while none comes."""

    def stop(self) -> None:
        """End without waiting for what is being played."""


class Executor(Protocol):
    """Something that plays files; what is answered does not depend on which one does."""

    def pool(self, most: int) -> Pool:
        """`most`: how many files there are, beyond which more workers would be idle."""


@dataclass(frozen=True)
class LocalProcesses:
    """Processes of this machine, `jobs` at most."""

    jobs: int

    def pool(self, most: int) -> LocalPool:
        """See Executor."""
        return LocalPool(max(min(self.jobs, most), 1))


class LocalPool:
    """Processes that each have engines of their own. Where one dies, the next goes on with its file."""

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
        """See Pool."""
        return self._workers.counted

    def map(self, waiting: deque[Turn]) -> Iterator[Asked | None]:
        """See Pool."""
        for outcome in self._workers.map(waiting):
            if outcome and not outcome.result and (again := self._recovery.again(outcome)):
                waiting.appendleft(again)
                yield None
            else:
                yield outcome

    def stop(self) -> None:
        """See Pool."""
        self._workers.stop()
