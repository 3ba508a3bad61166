"""The completion type BASIC: the engine's own order."""

from __future__ import annotations

from collections.abc import Sequence

from ci_eval.core.contracts import Ranker
from ci_eval.core.model import Suggestion
from ci_eval.plugins.learning.ranking import ByText


def engine_order(suggestions: Sequence[Suggestion]) -> Sequence[Suggestion]:
    """Return the suggestions in the engine's order."""
    return suggestions


RANKER: Ranker = ByText(name="BASIC", summary="the engine's own order", arrange=engine_order)
