"""The logged data: the queries of a session with the displayed lists, and what the user did."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ci_eval.core.model import Session, Suggestion


@dataclass(frozen=True, kw_only=True)
class Logged:
    """A query of a session. Its suggestions and the rows of features are in displayed order."""

    prefix: str
    suggestions: Sequence[Suggestion]
    features: NDArray[np.float32]
    rank: int | None
    """Rank of the expected text."""
    selected: bool
    latency: float


@dataclass(frozen=True, kw_only=True)
class LoggedSession:
    """The queries of one session, in order."""

    session: Session
    queries: Sequence[Logged]
    cancelled: bool
    """True if the user gave up after the last query."""

    @property
    def selected(self) -> bool:
        """Return whether the expected text was taken."""
        return any(query.selected for query in self.queries)

    def outcome(self, number: int) -> str:
        """Return what the user did after a query: `selected`, `cancelled`, or `typed` on."""
        if self.queries[number].selected:
            return "selected"
        return "cancelled" if self.cancelled and number == len(self.queries) - 1 else "typed"
