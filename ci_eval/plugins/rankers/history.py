"""The completion types that order by how names are used in the file before the caret, and in the project's other files.

Suggestions with equal counts stay in the engine's order.
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


Columns = Sequence[NDArray[np.floating[Any]]]
Keys = Callable[[Sequence[Suggestion], CaretContext], Columns]
"""Suggestions, caret → sort keys for `np.lexsort`, which compares the last key first."""


class ByHistory(msgspec.Struct, frozen=True):
    name: str
    summary: str
    start: Callable[[FileContext], Keys]
    needs_names: bool = True

    def configured(self, model: Path | None) -> Ranker:  # noqa: ARG002
        return self

    def open(self, context: FileContext) -> Ordering:
        keys = self.start(context)
        return lambda suggestions, caret: [suggestions[place] for place in np.lexsort(keys(suggestions, caret))]


def by_frequency(context: FileContext) -> Keys:
    reader = Reader.of(context)

    def keys(suggestions: Sequence[Suggestion], caret: CaretContext) -> Columns:
        rows = reader.rows(caret, suggestions)
        return -rows[:, PROJECT], -rows[:, FILE]

    return keys


def by_last_use(context: FileContext) -> Keys:
    """Order by last use, after Robbes and Lanza, "How program history can improve code completion" (ASE 2008)."""
    others, typed = load_other_names(context), Typed()

    def keys(suggestions: Sequence[Suggestion], caret: CaretContext) -> Columns:
        typed.read(caret.before)
        texts = [suggestion.text for suggestion in suggestions]
        return -others.times(texts), -np.array([typed.last(text) for text in texts], np.float64)

    return keys


def by_ngrams(context: FileContext) -> Keys:
    others, typed = load_other_names(context), Typed()

    def keys(suggestions: Sequence[Suggestion], caret: CaretContext) -> Columns:
        typed.read(caret.before)
        texts = [suggestion.text for suggestion in suggestions]
        of_project = others.levels(texts, typed.context(LONGEST_CONTEXT))
        return (-mix(interpolate(typed.levels(texts)), interpolate(of_project)),)

    return keys


_RANKERS = (
    ByHistory("FREQUENCY", "by how often a name occurs in the file so far, then in the project", by_frequency),
    ByHistory(
        "RECENCY", "by how lately a name was used in the file, then by how often it is in the project", by_last_use
    ),
    ByHistory(
        "NGRAM", "by what usually follows the tokens before it, in the file so far and in the project", by_ngrams
    ),
)
RANKERS: Mapping[str, Ranker] = {ranker.name: ranker for ranker in _RANKERS}
