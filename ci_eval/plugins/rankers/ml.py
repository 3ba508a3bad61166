"""The completion type ML: by a model that `ci-eval train-ranker` trained on logs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from ci_eval.core.base.errors import ConfigError
from ci_eval.core.contracts import CaretContext, FileContext, Ordering, Ranker
from ci_eval.core.logs.features import Reader
from ci_eval.core.model import Suggestion
from ci_eval.plugins.learning import model_file


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
        model_file.lightgbm()
        model_file.load(model)
        return replace(self, model=model.resolve())

    def open(self, context: FileContext) -> Ordering:
        assert self.model is not None
        return _Ordered(Reader.of(context), _booster(self.model))


@dataclass(frozen=True)
class _Ordered:
    reader: Reader
    booster: Any

    def __call__(self, suggestions: Sequence[Suggestion], caret: CaretContext) -> Sequence[Suggestion]:
        if len(suggestions) < 2:
            return suggestions
        rows = self.reader.rows(caret, suggestions)
        # One thread: the workers share the machine, and starting threads takes longer than a short list.
        scores = self.booster.predict(rows, num_threads=1)
        return [suggestions[place] for place in np.argsort(-scores, kind="stable")]


@lru_cache(maxsize=1)
def _booster(path: Path) -> Any:
    # The cache keeps one copy in each worker process.
    return model_file.lightgbm().Booster(model_str=model_file.load(path).booster)


RANKER: Ranker = ByModel()
