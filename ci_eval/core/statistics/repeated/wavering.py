"""The engine's own noise: how far figures move because the engine answers the same session differently in each round.

The figures of a report are those of the first round, one of the answers that the engine might have given, so their
variance is that between rounds. Few rounds may agree by luck; the variance is therefore never taken to be less than it
would be if the sessions' answers varied independently of each other.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ci_eval.core.statistics.student import Floats


class Wavering:
    """The movement of several figures from round to round, added up over sessions.

    Each figure is observed as a few numbers per session, such as a numerator and a denominator.
    """

    def __init__(self, rounds: int) -> None:
        self.rounds = rounds
        self._moved: Floats | None = None
        self._within: Floats | None = None

    def add(self, seen: Floats) -> None:
        """Add a session that was not answered alike in all rounds: its numbers (rounds x figures x numbers)."""
        apart = seen - seen.mean(axis=0)
        within = np.einsum("rfi,rfj->fij", apart, apart) / (self.rounds - 1)
        # Sessions answered alike add the same to every round, so the variance does without them.
        self._add(seen - seen[0], within)

    def add_all(self, other: Wavering) -> None:
        """Add the sessions of another instance."""
        if other._moved is not None and other._within is not None:
            self._add(other._moved, other._within)

    def _add(self, moved: Floats, within: Floats) -> None:
        self._moved = moved + (0 if self._moved is None else self._moved)
        self._within = within + (0 if self._within is None else self._within)

    def variance(self, weights: Floats, figures: Sequence[int] = (0,)) -> Floats:
        """Return the variance of each of these figures. `weights` (figures x numbers): the figure's derivative with
        respect to each number's sum."""
        if self._moved is None or self._within is None:
            return np.zeros(len(weights))
        moved, within = self._moved[:, list(figures)], self._within[list(figures)]
        between = np.einsum("rfi,fi->rf", moved, weights).var(axis=0, ddof=1)
        # Few rounds may agree by luck, so independent sessions give the lower bound.
        return np.asarray(np.maximum(between, np.einsum("fi,fij,fj->f", weights, within, weights)))
