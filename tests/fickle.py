"""An engine that takes as long as it says, and changes its mind from process to process."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from ci_eval.core.contracts import Answer, Installation, Query, Running, Surroundings
from ci_eval.core.model import Suggestion
from ci_eval.plugins.engines.controls import Words
from tests.fake import Fake


@dataclass(frozen=True)
class Fickle(Fake):
    """Is `words`; its n-th process takes the n-th of `times` (ms), and forgets `forgets` from the second on."""

    name: str
    notes: Path
    """A file in which all of its kind note the word that is asked for, and who was asked."""
    times: Sequence[float] = (1.0, 2.0, 9.0)
    forgets: str = ""

    def start(self, installation: Installation, surroundings: Surroundings) -> Running:
        with self.notes.with_suffix(f".{self.name}").open("a+") as file:
            file.write(".")
            return RunningFickle(self, surroundings, file.tell() - 1)


class RunningFickle(Words):
    """The process of that number, from 0."""

    def __init__(self, engine: Fickle, surroundings: Surroundings, number: int) -> None:
        super().__init__(surroundings)
        self._engine = engine
        self._number = number
        self._path = ""

    def open(self, path: str, text: str) -> None:
        self._path = path
        super().open(path, text)

    def words(self, query: Query) -> Sequence[str]:
        forgotten = self._engine.forgets if self._number else ""
        return [word for word in super().words(query) if word != forgotten]

    def complete(self, query: Query) -> Answer:
        with self._engine.notes.open("a") as file:
            file.write(f"{self._number} {self._path} {self._engine.name} {query.expected}\n")
        found = [Suggestion(text=word) for word in self.words(query)]
        return Answer(suggestions=found, latency=self._engine.times[self._number])
