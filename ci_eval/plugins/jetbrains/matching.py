"""The choice of the suggestion that the plugin takes for the expected text."""

from __future__ import annotations

import re
from collections.abc import Sequence

from ci_eval.core.model import Suggestion

IDENTIFIER = re.compile(r"\w+")


def exact(_language: str, expected: str, shown: Sequence[Suggestion], _relevant: Sequence[bool | None]) -> int | None:
    """Return the rank of the first suggestion that is equal."""
    return next((place for place, suggestion in enumerate(shown, 1) if suggestion.text == expected), None)


def rank_by_language(
    language: str, expected: str, shown: Sequence[Suggestion], _relevant: Sequence[bool | None]
) -> int | None:
    """Return the rank as `exact` does. In Kotlin the text before " =" counts as well, in C++ the first identifier."""
    return next(
        (place for place, suggestion in enumerate(shown, 1) if _fits(language.lower(), expected, suggestion.text)), None
    )


def rank_by_relevance(
    language: str, expected: str, shown: Sequence[Suggestion], relevant: Sequence[bool | None]
) -> int | None:
    """Return the rank of the first suggestion that the plugin called relevant. If it did not say so of any,
    `rank_by_language` decides."""
    if all(flag is None for flag in relevant):
        return rank_by_language(language, expected, shown, relevant)
    return next((place for place, flag in enumerate(relevant, 1) if flag), None)


def _fits(language: str, expected: str, text: str) -> bool:
    if text == expected:
        return True
    if language == "kotlin":
        return text.partition(" =")[0] == expected and " =" in text
    match = IDENTIFIER.search(text.strip()) if language == "c++" else None
    return match is not None and match[0] == expected
