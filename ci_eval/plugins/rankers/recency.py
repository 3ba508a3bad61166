"""The completion type RECENCY: by last use in the file, then by occurrences in the project's other files."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from ci_eval.core.contracts import CaretContext, FileContext, Ordering, Ranker
from ci_eval.core.logs.names import Others, load_other_names
from ci_eval.core.model import Suggestion
from ci_eval.plugins.learning.ngrams import Typed


@dataclass(frozen=True)
class Recency:
    """A ranker by last use, the simplest good order of Robbes and Lanza, "How program history can improve code
    completion" (ASE 2008). Equal suggestions stay in the engine's order."""

    name: str = "RECENCY"
    summary: str = "by how lately a name was used in the file, then by how often it is in the project"
    needs_names: bool = True

    def configured(self, model: Path | None) -> Ranker:  # noqa: ARG002
        return self

    def open(self, context: FileContext) -> Ordering:
        return _ByRecency(load_other_names(context))


@dataclass(frozen=True)
class _ByRecency:
    others: Others
    typed: Typed = field(default_factory=Typed)

    def __call__(self, suggestions: Sequence[Suggestion], caret: CaretContext) -> Sequence[Suggestion]:
        self.typed.read(caret.before)
        texts = [suggestion.text for suggestion in suggestions]
        last = np.array([self.typed.last(text) for text in texts])
        # lexsort sorts by its last key first.
        order = np.lexsort((-self.others.times(texts), -last))
        return [suggestions[place] for place in order]


RANKER: Ranker = Recency()
