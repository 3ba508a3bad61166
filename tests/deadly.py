"""An engine that runs in its worker and harms it, now and then: what an engine's own process cannot do."""

from __future__ import annotations

import os
import signal
from dataclasses import dataclass
from pathlib import Path

from ci_eval.core.base.errors import EngineCrash
from ci_eval.core.contracts import Answer, Installation, Query, Running, Surroundings
from ci_eval.core.model import Suggestion
from ci_eval.plugins.engines.controls import Words
from tests.fake import Fake


@dataclass(frozen=True)
class Deadly(Fake):
    """Does `harm` when asked for the word `at`; `start`: as soon as it is started. `times`: then it is harmless."""

    harm: str
    at: str
    notes: Path
    """A file in which it keeps how often it did harm."""
    times: int = 1000
    name: str = "deadly"

    def start(self, installation: Installation, surroundings: Surroundings) -> Running:
        self.meet("start")
        return RunningDeadly(self, surroundings)

    def meet(self, word: str) -> Answer | None:
        done = self.notes.stat().st_size if self.notes.exists() else 0
        if word != self.at or done >= self.times:
            return None
        with self.notes.open("ab") as file:
            file.write(b".")
        if self.harm == "kill":
            os.kill(os.getpid(), signal.SIGKILL)
        if self.harm == "raise":
            raise ValueError("no idea")
        if self.harm == "fail":
            raise EngineCrash("out of luck")
        if self.harm == "nan":
            return Answer(suggestions=[], latency=float("nan"))
        return Answer(suggestions=[Suggestion(text="\ud800")], latency=0.0)


class RunningDeadly(Words):
    """Else it is `words`."""

    def __init__(self, engine: Deadly, surroundings: Surroundings) -> None:
        super().__init__(surroundings)
        self._engine = engine

    def complete(self, query: Query) -> Answer:
        with self._engine.notes.with_suffix(".asked").open("a") as file:
            file.write(f"{query.expected} ")
        return self._engine.meet(query.expected) or super().complete(query)
