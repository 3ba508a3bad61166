"""x"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from contextlib import AbstractContextManager
from typing import Any, Protocol

from ci_eval.core.interpret.assignments import Played, Turn
from ci_eval.core.interpret.recovery import Recovery
from ci_eval.core.interpret.worker import play_in_turn
from ci_eval.core.workers import TaskOutcome, Workers

Asked = TaskOutcome[Turn, tuple[Played, ...]]


class Pool(AbstractContextManager[Any], Protocol):
    """A pool that plays files, several at a time, for as long as its context lasts; `Workers` is one."""

    @property
    def counted(self) -> int:
        """Return about how many sessions were played, those of unfinished files among them; 0 if that is not known."""

    def map(self, waiting: deque[Turn]) -> Iterator[Asked | None]:
        """Yield the outcome of each file, as the outcomes come; None now and then while none comes."""

    def stop(self) -> None:
        """Stop without waiting for what is being played."""


class Executor(Protocol):
    """A way to play files elsewhere than on this machine; the answers do not depend on it."""

    def pool(self, most: int) -> Pool:
        """Return a pool. `most`: the number of files, beyond which more workers would be idle."""


def local_pool(jobs: int) -> Workers[Turn, tuple[Played, ...]]:
    """Return a pool of processes that each have engines of their own. If one dies, the next goes on with its file."""
    return Workers(play_in_turn, jobs=max(jobs, 1), again=Recovery().again)
