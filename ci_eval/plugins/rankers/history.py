"""The completion types that count names in the file before the caret, and in the project's other files.

Suggestions that are equal by these counts stay in the engine's order.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import msgspec
import numpy as np

from ci_eval.core.contracts import CaretContext, FileContext, Ordering, Ranker
from ci_eval.core.logs.features import NAMES, Reader
from ci_eval.core.logs.names import LONGEST_CONTEXT, load_other_names
from ci_eval.core.model import Suggestion
from ci_eval.plugins.learning.ngrams import Typed, interpolate, mix

FILE, PROJECT = NAMES.index("in_file"), NAMES.index("in_project")


class ByHistory(msgspec.Struct, frozen=True):
    name: str
    summary: str
    start: Callable[[FileContext], Ordering]
    needs_names: bool = True

    def configured(self, model: Path | None) -> Ranker:  # noqa: ARG002
        return self

    def open(self, context: FileContext) -> Ordering:
        return self.start(context)


def by_frequency(context: FileContext) -> Ordering:
    reader = Reader.of(context)

    def order(suggestions: Sequence[Suggestion], caret: CaretContext) -> Sequence[Suggestion]:
        rows = reader.rows(caret, suggestions)
        # lexsort sorts by its last key first.
        return [suggestions[place] for place in np.lexsort((-rows[:, PROJECT], -rows[:, FILE]))]

    return order


def by_last_use(context: FileContext) -> Ordering:
    """Return the simplest good order of Robbes and Lanza, "How program history can improve code completion" (ASE
    2008)."""
    others, typed = load_other_names(context), Typed()

    def order(suggestions: Sequence[Suggestion], caret: CaretContext) -> Sequence[Suggestion]:
        typed.read(caret.before)
        texts = [suggestion.text for suggestion in suggestions]
        last = np.array([typed.last(text) for text in texts])
        # lexsort sorts by its last key first.
        return [suggestions[place] for place in np.lexsort((-others.times(texts), -last))]

    return order


def by_ngrams(context: FileContext) -> Ordering:
    others, typed = load_other_names(context), Typed()

    def order(suggestions: Sequence[Suggestion], caret: CaretContext) -> Sequence[Suggestion]:
        typed.read(caret.before)
        texts = [suggestion.text for suggestion in suggestions]
        of_project = others.levels(texts, typed.context(LONGEST_CONTEXT))
        likely = mix(interpolate(typed.levels(texts)), interpolate(of_project))
        return [suggestions[place] for place in np.argsort(-likely, kind="stable")]

    return order


_RANKERS = (
    ByHistory("FREQUENCY", "by how often a name occurs in the file so far, then in the project", by_frequency),
    ByHistory(
        "RECENCY",
        "by how lately a name was used in the file, then by how often it is in the project",
        by_last_use,
    ),
    ByHistory(
        "NGRAM", "by what usually follows the tokens before it, in the file so far and in the project", by_ngrams
    ),
)
RANKERS: Mapping[str, Ranker] = {ranker.name: ranker for ranker in _RANKERS}
