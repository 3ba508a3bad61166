"""The completion type ALPHABETICAL: by text, the baseline that any ranking should beat."""

from __future__ import annotations

from collections.abc import Sequence

from ci_eval.core.contracts import Ranker
from ci_eval.core.model import Suggestion
from ci_eval.plugins.learning.ranking import ByText


def sort_by_letters(suggestions: Sequence[Suggestion]) -> Sequence[Suggestion]:
    """Return the suggestions by letters, regardless of case. Equal ones stay in the engine's order."""
    return sorted(suggestions, key=_letters)


def _letters(suggestion: Suggestion) -> tuple[str, str]:
    return suggestion.text.casefold(), suggestion.text


RANKER: Ranker = ByText(name="ALPHABETICAL", summary="by text, regardless of case", arrange=sort_by_letters)
