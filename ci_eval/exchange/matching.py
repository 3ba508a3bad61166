"""Which suggestion the plugin takes for the expected text."""

from __future__ import annotations

import re
from collections.abc import Sequence

from ci_eval.model import Suggestion

IDENTIFIER = re.compile(r"\w+")


def exact(_language: str, expected: str, shown: Sequence[Suggestion], _relevant: Sequence[bool | None]) -> int | None:
    """The rank of the first that is equal."""
    return next((place for place, each in enumerate(shown, 1) if each.text == expected), None)


def by_language(
    language: str, expected: str, shown: Sequence[Suggestion], _relevant: Sequence[bool | None]
) -> int | None:
    """As `exact`; of Kotlin the text before " =" counts as well, of C++ the first identifier."""
    return next((place for place, each in enumerate(shown, 1) if _fits(language.lower(), expected, each.text)), None)


def by_relevance(
    language: str, expected: str, shown: Sequence[Suggestion], relevant: Sequence[bool | None]
) -> int | None:
    """The first that the plugin called relevant; as `by_language` where it did not say of any."""
    if all(each is None for each in relevant):
        return by_language(language, expected, shown, relevant)
    return next((place for place, each in enumerate(relevant, 1) if each), None)


def _fits(language: str, expected: str, text: str) -> bool:
    if text == expected:
        return True
    if language == "kotlin":
        return text.partition(" =")[0] == expected and " =" in text
    found = IDENTIFIER.search(text.strip()) if language == "c++" else None
    return found is not None and found[0] == expected
