"""A pool of workers within the test's own process: starting processes takes longer than what most tests let them do."""

from __future__ import annotations

import traceback
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import Any

import pytest

from ci_eval.core.workers import TaskOutcome, Workers


class Here:
    """A stand-in for `Workers` that does one task after the other; several workers are real processes, as some tests
    need them."""

    counted = 0

    def __new__(cls, function: Callable[..., Any], *, jobs: int = 1, **options: Any) -> Any:
        return super().__new__(cls) if jobs == 1 else Workers(function, jobs=jobs, **options)

    def __init__(
        self,
        function: Callable[..., Any],
        *,
        shared: tuple[object, ...] = (),
        again: Callable[[Any], Any] | None = None,
        **_: object,
    ) -> None:
        self._function, self._shared, self._again = function, shared, again

    @classmethod
    def __class_getitem__(cls, _: object) -> type[Here]:
        return cls

    def __enter__(self) -> Here:
        return self

    def __exit__(self, *_: object) -> None:
        """End nothing: no process was started."""

    def map(self, waiting: deque[Any]) -> Iterator[TaskOutcome[Any, Any]]:
        while waiting:
            task = waiting.popleft()
            try:
                outcome = TaskOutcome(task, self._function(*self._shared, task))
            except Exception as error:  # noqa: BLE001  as in a worker
                outcome = TaskOutcome(task, None, "".join(traceback.format_exception_only(error)).strip())
            if self._again and not outcome.result and (again := self._again(outcome)):
                waiting.appendleft(again)
            else:
                yield outcome


@contextmanager
def one_process() -> Iterator[None]:
    """Let stages 1 and 2 happen here, unless they are to have several workers."""
    with pytest.MonkeyPatch.context() as patch:
        for module in ("actions.generate", "interpret.run"):
            # By its name: the package has a function of that name as well.
            patch.setattr(import_module(f"ci_eval.core.{module}"), "Workers", Here)
        yield
