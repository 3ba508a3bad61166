"""The completion types by the list alone: the engine's own order, and by text, which any ranking should beat."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import msgspec

from ci_eval.core.contracts import FileContext, Ordering, Ranker


class WithoutModel(msgspec.Struct, frozen=True):
    name: str
    summary: str
    start: Callable[[FileContext], Ordering]
    """Workers receive a completion type as it is, and only named functions can be sent."""
    needs_names: bool = True

    def configured(self, model: Path | None) -> Ranker:  # noqa: ARG002
        return self

    def open(self, context: FileContext) -> Ordering:
        return self.start(context)


def keep_order(_context: FileContext) -> Ordering:
    return lambda suggestions, _: suggestions


def sort_by_letters(_context: FileContext) -> Ordering:
    """Return the order of the texts regardless of case. Equal ones stay in the engine's order."""
    return lambda suggestions, _: sorted(
        suggestions, key=lambda suggestion: (suggestion.text.casefold(), suggestion.text)
    )


RANKERS: Mapping[str, Ranker] = {
    "BASIC": WithoutModel("BASIC", "the engine's own order", keep_order, needs_names=False),
    "ALPHABETICAL": WithoutModel("ALPHABETICAL", "by text, regardless of case", sort_by_letters, needs_names=False),
}
