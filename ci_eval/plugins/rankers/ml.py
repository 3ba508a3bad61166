"""The completion type ML: by a model that `ci-eval train-ranker` trained on logs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path

import numpy as np

from ci_eval.core.base.errors import ConfigError
from ci_eval.core.contracts import CaretContext, FileContext, Ordering, Ranker
from ci_eval.core.logs.features import Reader
from ci_eval.core.model import Suggestion
from ci_eval.plugins.learning import rankers
from ci_eval.plugins.learning.rankers import Scorer, open_ranker


@dataclass(frozen=True)
class ByModel:
    """A ranker by a trained model. Suggestions of equal score stay in the engine's order."""

    model: Path | None = None
    name: str = "ML"
    summary: str = "by a model that train-ranker made of logs (--model FILE)"
    needs_names: bool = True

    def configured(self, model: Path | None) -> Ranker:
        if model is None:
            raise ConfigError("completion type ML needs a model: add --model FILE, made by `ci-eval train-ranker`")
        # A missing package or a damaged model ends the command here, not each session.
        open_ranker(rankers.load(model))
        return replace(self, model=model.resolve())

    @property
    def training_seed(self) -> int | None:
        """Return the seed of the model's training; None if another seed would have changed nothing."""
        return rankers.load(self.model).seed if self.model else None

    def open(self, context: FileContext) -> Ordering:
        assert self.model is not None
        return _Ordered(Reader.of(context), _scorer(self.model))


@dataclass(frozen=True)
class _Ordered:
    reader: Reader
    score: Scorer

    def __call__(self, suggestions: Sequence[Suggestion], caret: CaretContext) -> Sequence[Suggestion]:
        if len(suggestions) < 2:
            return suggestions
        rows = self.reader.rows(caret, suggestions)
        scores = self.score(rows)
        return [suggestions[place] for place in np.argsort(-scores, kind="stable")]


@lru_cache(maxsize=1)
def _scorer(path: Path) -> Scorer:
    # The cache keeps one copy in each worker process.
    return open_ranker(rankers.load(path))


RANKER: Ranker = ByModel()
