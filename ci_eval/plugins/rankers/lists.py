"""The completion types that need only the list: the engine's own order, and alphabetical order as a baseline."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import msgspec

from ci_eval.core.contracts import FileContext, Ordering, Ranker
from ci_eval.core.model import Suggestion


class ByList(msgspec.Struct, frozen=True, kw_only=True):
    """A completion type that needs only the list. `arrange` returns the suggestions in the new order."""

    name: str
    summary: str
    arrange: Callable[[Sequence[Suggestion]], Sequence[Suggestion]]
    needs_names: bool = False

    def configured(self, model: Path | None) -> Ranker:  # noqa: ARG002
        return self

    def open(self, context: FileContext) -> Ordering:  # noqa: ARG002
        return lambda suggestions, _: self.arrange(suggestions)


# Completion types are pickled for worker processes, so `arrange` cannot be a lambda.
def keep_order(suggestions: Sequence[Suggestion]) -> Sequence[Suggestion]:
    return suggestions


def sort_by_letters(suggestions: Sequence[Suggestion]) -> Sequence[Suggestion]:
    """Sort by text, ignoring case. Suggestions with equal texts stay in the engine's order."""
    return sorted(suggestions, key=lambda suggestion: (suggestion.text.casefold(), suggestion.text))


RANKERS: Mapping[str, Ranker] = {
    "BASIC": ByList(name="BASIC", summary="the engine's own order", arrange=keep_order),
    "ALPHABETICAL": ByList(name="ALPHABETICAL", summary="by text, regardless of case", arrange=sort_by_letters),
}
