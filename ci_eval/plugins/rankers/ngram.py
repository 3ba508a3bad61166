"""The completion type NGRAM: by likelihood after the preceding tokens, from n-gram caches of file and project."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from ci_eval.core.contracts import CaretContext, FileContext, Ordering, Ranker
from ci_eval.core.logs.names import LONGEST_CONTEXT, Others, load_other_names
from ci_eval.core.model import Suggestion
from ci_eval.plugins.learning.ngrams import Typed, interpolate, mix


@dataclass(frozen=True)
class Ngram:
    """A ranker by n-gram caches. Equally likely suggestions stay in the engine's order."""

    name: str = "NGRAM"
    summary: str = "by what usually follows the tokens before it, in the file so far and in the project"
    needs_names: bool = True

    def configured(self, model: Path | None) -> Ranker:  # noqa: ARG002
        return self

    def open(self, context: FileContext) -> Ordering:
        return _ByNgrams(load_other_names(context))


@dataclass(frozen=True)
class _ByNgrams:
    others: Others
    typed: Typed = field(default_factory=Typed)

    def __call__(self, suggestions: Sequence[Suggestion], caret: CaretContext) -> Sequence[Suggestion]:
        self.typed.read(caret.before)
        texts = [suggestion.text for suggestion in suggestions]
        of_project = self.others.levels(texts, self.typed.context(LONGEST_CONTEXT))
        likely = mix(interpolate(self.typed.levels(texts)), interpolate(of_project))
        return [suggestions[place] for place in np.argsort(-likely, kind="stable")]


RANKER: Ranker = Ngram()
