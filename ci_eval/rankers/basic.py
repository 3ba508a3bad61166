"""BASIC: the engine's own order."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ci_eval.contracts import Ranker
from ci_eval.model import Suggestion


@dataclass(frozen=True)
class Basic:
    """Changes nothing."""

    name: str = "BASIC"
    summary: str = "the engine's own order"

    def order(self, suggestions: Sequence[Suggestion]) -> Sequence[Suggestion]:
        return suggestions


RANKER: Ranker = Basic()
