"""The engine's own noise: how far figures move because the same question is answered otherwise in another round.

The figures are those of the first round, which is one draw of what the engine might have answered: their variance is
that between rounds. Three rounds may agree by luck, so that it is never taken to be less than what the sessions' own
answers let it be if they came about one by one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from ci_eval.model import LookupScore, SessionScore, Status
from ci_eval.statistics.student import Floats


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
    """Adds up what the rounds of an engine say of several figures, each observed as a few numbers a session."""

    def __init__(self, rounds: int) -> None:
        self.rounds = rounds
        self._moved: Floats | None = None
        self._within: Floats | None = None

    def add(self, seen: Floats) -> None:
        """One session that was not always answered alike (rounds x figures x numbers)."""
        apart = seen - seen.mean(axis=0)
        within = np.einsum("rfi,rfj->fij", apart, apart) / (self.rounds - 1)
        self._moved = seen - seen[0] + (0 if self._moved is None else self._moved)
        self._within = within + (0 if self._within is None else self._within)

    def variance(self, weights: Floats, figures: Sequence[int] = (0,)) -> Floats:
        """Of each of these figures; `weights` (figures x numbers): how far one more of a number moves it."""
        if self._moved is None or self._within is None:
            return np.zeros(len(weights))
        moved, within = self._moved[:, list(figures)], self._within[list(figures)]
        between = np.einsum("rfi,fi->rf", moved, weights).var(axis=0, ddof=1)
        return np.asarray(np.maximum(between, np.einsum("fi,fij,fj->f", weights, within, weights)))
