"""The engine's own noise: how far figures move because the same question is answered otherwise in another round.

The figures are those of the first round, which is one draw of what the engine might have answered: their variance is
that between rounds. Three rounds may agree by luck, so that it is never taken to be less than what the sessions' own
answers let it be if they came about one by one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from ci_eval.model import LookupScore, SessionScore, Status
from ci_eval.support.student import Floats


def answers(session: SessionScore, rounds: int) -> Iterator[SessionScore]:
    """The session as each round answered it; times are those of the first."""
    later = {each.round: each for each in session.otherwise}
    for number in range(rounds):
        found = later.get(number)
        yield session if found is None else _replaced(session, found.status, found.lookups)


def _replaced(session: SessionScore, status: Status, lookups: tuple[LookupScore, ...]) -> SessionScore:
    fields = {name: getattr(session, name) for name in SessionScore.__struct_fields__}
    return SessionScore(**fields | {"status": status, "lookups": lookups, "otherwise": ()})


class Wavering:
    """Adds up what the rounds of an engine say of so many figures, each observed as so many numbers a session."""

    def __init__(self, figures: int, numbers: int, rounds: int) -> None:
        self.rounds = rounds
        self._moved = np.zeros((max(rounds, 1), figures, numbers))
        self._within = np.zeros((figures, numbers, numbers))

    def add(self, seen: Floats) -> None:
        """One session that was not always answered alike (rounds x figures x numbers)."""
        self._moved += seen - seen[0]
        apart = seen - seen.mean(axis=0)
        self._within += np.einsum("rfi,rfj->fij", apart, apart) / (self.rounds - 1)

    def variance(self, weights: Floats, figures: Sequence[int] = (0,)) -> Floats:
        """Of each of these figures; `weights` (figures x numbers): how far one more of a number moves it."""
        if self.rounds < 2:
            return np.zeros(len(weights))
        moved, within = self._moved[:, list(figures)], self._within[list(figures)]
        between = np.einsum("rfi,fi->rf", moved, weights).var(axis=0, ddof=1)
        return np.asarray(np.maximum(between, np.einsum("fi,fij,fj->f", weights, within, weights)))
