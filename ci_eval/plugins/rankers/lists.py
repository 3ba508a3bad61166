"""The completion types that need no model: the engine's own order, alphabetical order as a baseline, and orders by how
names are used in the file before the caret, and in the project's other files.

Suggestions with equal keys stay in the engine's order.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from ci_eval.core.contracts import CaretContext, FileContext, Ordering, Ranker
from ci_eval.core.logs.features import NAMES, Reader
from ci_eval.core.logs.names import LONGEST_CONTEXT, load_other_names
from ci_eval.core.model import Suggestion
from ci_eval.plugins.learning.ngrams import Typed, interpolate, mix

FILE, PROJECT = NAMES.index("in_file"), NAMES.index("in_project")


class ByList(msgspec.Struct, frozen=True):
    name: str
    summary: str
    start: Callable[[FileContext], Ordering]
    needs_names: bool = True

    def configured(self, model: Path | None) -> Ranker:  # noqa: ARG002
        return self

    def open(self, context: FileContext) -> Ordering:
        return self.start(context)


# Completion types are pickled for worker processes, so `start` cannot be a lambda.
def keep_order(_context: FileContext) -> Ordering:
    return lambda suggestions, _: suggestions


def by_letters(_context: FileContext) -> Ordering:
    """Order by text, ignoring case."""
    return lambda suggestions, _: sorted(suggestions, key=lambda of: (of.text.casefold(), of.text))


def _sort(suggestions: Sequence[Suggestion], *keys: NDArray[np.floating[Any]]) -> Sequence[Suggestion]:
    """Sort by the last key, then by the key before it, and so on."""
    return [suggestions[place] for place in np.lexsort(keys)]


def by_frequency(context: FileContext) -> Ordering:
    reader = Reader.of(context)

    def order(suggestions: Sequence[Suggestion], caret: CaretContext) -> Sequence[Suggestion]:
        rows = reader.rows(caret, suggestions)
        return _sort(suggestions, -rows[:, PROJECT], -rows[:, FILE])

    return order


def by_last_use(context: FileContext) -> Ordering:
    """Order by last use, after Robbes and Lanza, "How program history can improve code completion" (ASE 2008)."""
    others, typed = load_other_names(context), Typed()

    def order(suggestions: Sequence[Suggestion], caret: CaretContext) -> Sequence[Suggestion]:
        typed.read(caret.before)
        texts = [suggestion.text for suggestion in suggestions]
        return _sort(suggestions, -others.times(texts), -np.array([typed.last(text) for text in texts], np.float64))

    return order


def by_ngrams(context: FileContext) -> Ordering:
    others, typed = load_other_names(context), Typed()

    def order(suggestions: Sequence[Suggestion], caret: CaretContext) -> Sequence[Suggestion]:
        typed.read(caret.before)
        texts = [suggestion.text for suggestion in suggestions]
        of_project = others.levels(texts, typed.context(LONGEST_CONTEXT))
        return _sort(suggestions, -mix(interpolate(typed.levels(texts)), interpolate(of_project)))

    return order


_RANKERS = (
    ByList("BASIC", "the engine's own order", keep_order, needs_names=False),
    ByList("ALPHABETICAL", "by text, regardless of case", by_letters, needs_names=False),
    ByList("FREQUENCY", "by how often a name occurs in the file so far, then in the project", by_frequency),
    ByList(
        "RECENCY", "by how recently a name was used in the file, then by how often it is in the project", by_last_use
    ),
    ByList("NGRAM", "by what usually follows the previous tokens, in the file so far and in the project", by_ngrams),
)
RANKERS: Mapping[str, Ranker] = {ranker.name: ranker for ranker in _RANKERS}
