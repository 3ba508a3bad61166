"""ALPHABETICAL: by the text, the baseline any ranking should beat."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ci_eval.contracts import Ranker
from ci_eval.model import Suggestion


@dataclass(frozen=True)
class Alphabetical:
    """Letters regardless of case; equal ones in the engine's order."""

    name: str = "ALPHABETICAL"
    summary: str = "by text, regardless of case"

    def order(self, suggestions: Sequence[Suggestion]) -> Sequence[Suggestion]:
        return sorted(suggestions, key=_letters)


def _letters(suggestion: Suggestion) -> tuple[str, str]:
    return suggestion.text.casefold(), suggestion.text


RANKER: Ranker = Alphabetical()
