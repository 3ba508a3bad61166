"""Workers that run within the test's own process: a command is done in a tenth of the time."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from importlib import import_module
from typing import Any

import pytest

from ci_eval.core.workers import TaskOutcome


class Here:
    """As `Workers`, one task after the other."""

    counted = 0

    def __init__(self, function: Callable[..., Any], *, shared: tuple[object, ...] = (), **_: object) -> None:
        self._function, self._shared = function, shared

    @classmethod
    def __class_getitem__(cls, _: object) -> type[Here]:
        return cls

    def __enter__(self) -> Here:
        return self

    def __exit__(self, *_: object) -> None:
        """Nothing to end."""

    def map(self, waiting: deque[Any]) -> Iterator[TaskOutcome[Any, Any]]:
        while waiting:
            task = waiting.popleft()
            yield TaskOutcome(task, self._function(*self._shared, task))


@pytest.fixture
def in_one_process(monkeypatch: pytest.MonkeyPatch) -> None:
    """What stages 1 and 2 do happens here."""
    for module in ("actions.generate", "interpret.executing"):
        # By its name: the package has a function of that name as well.
        monkeypatch.setattr(import_module(f"ci_eval.core.{module}"), "Workers", Here)
