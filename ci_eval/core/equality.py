"""The scoring for tasks in which only the exact expected text counts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from ci_eval.core.contracts import Item
from ci_eval.core.model import Suggestion, Token


def each_token(_text: str, tokens: Sequence[Token]) -> Iterator[Item]:
    return (
        Item(begin=token.offset, end=token.offset + len(token.text), text=token.text, properties=token.properties)
        for token in tokens
    )


def rank(expected: str, _prefix: str, shown: Sequence[Suggestion]) -> int | None:
    """Return the rank of the first suggestion whose acceptance leaves the expected text and no more."""
    return next(
        (number for number, suggestion in enumerate(shown, 1) if suggestion.text == expected and not suggestion.tail),
        None,
    )


def begins(suggestion: Suggestion, typed: str) -> bool:
    """Return whether a suggestion begins with what was typed, without regard to case."""
    # clangd puts a sign before the names that it shows.
    return (suggestion.label or suggestion.text).lstrip(" \u2022").lower().startswith(typed.lower())


SAME_MODULE, SAME_OBJECT, COMPILES = "sameModule", "sameObject", "compiles"
"""The grades of a suggestion that imports the expected name: from the module that the code has it from, or as the same
object from a module that re-exports it; and whether the file has no more syntax errors than before."""


def imports_right(grades: Mapping[str, float]) -> bool:
    """Return whether the expected object is imported, from its module or from one that re-exports it."""
    return grades[SAME_MODULE] + grades[SAME_OBJECT] > 0


def rank_of_import(_expected: str, _prefix: str, shown: Sequence[Suggestion]) -> int | None:
    """Return the rank of the first suggestion whose acceptance leaves the name and imports the expected object."""
    graded = ((number, suggestion.grades) for number, suggestion in enumerate(shown, 1) if suggestion.grades)
    return next((number for number, grades in graded if imports_right(grades)), None)
