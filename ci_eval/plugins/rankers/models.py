"""The completion types that use a trained model: ML orders by a ranker's scores, PBN by the likelihood of calls."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from pathlib import Path

import msgspec
import numpy as np
from msgspec.structs import replace

from ci_eval.core.base.errors import ConfigError
from ci_eval.core.contracts import CaretContext, FileContext, Ordering, Ranker
from ci_eval.core.logs.features import Reader
from ci_eval.core.model import Suggestion
from ci_eval.plugins.learning import rankers
from ci_eval.plugins.learning.rankers import Scorer, open_ranker
from ci_eval.plugins.learning.recommenders.training import Trained
from ci_eval.plugins.mining.usages.texts import find_dialect, infer_usages


class ByModel(msgspec.Struct, frozen=True):
    """The order by a ranker's scores. Suggestions with equal scores stay in the engine's order."""

    model: Path | None = None
    name: str = "ML"
    summary: str = "by a model that train-ranker learned from logs (--model FILE)"
    needs_names: bool = True

    def configured(self, model: Path | None) -> Ranker:
        if model is None:
            raise ConfigError("completion type ML needs a model: add --model FILE, made by `ci-eval train-ranker`")
        # Open the model now, so that a missing package or a damaged model ends the command before the first session.
        open_ranker(rankers.load(model))
        return replace(self, model=model.resolve())

    @property
    def training_seed(self) -> int | None:
        return rankers.load(self.model).seed if self.model else None

    def open(self, context: FileContext) -> Ordering:
        assert self.model is not None
        reader, score = Reader.of(context), _load_scorer(self.model)

        def order(suggestions: Sequence[Suggestion], caret: CaretContext) -> Sequence[Suggestion]:
            if len(suggestions) < 2:
                return suggestions
            scores = score(reader.rows(caret, suggestions))
            return [suggestions[place] for place in np.argsort(-scores, kind="stable")]

        return order


# Each worker process loads a model once.
_load_scorer: Callable[[Path], Scorer] = lru_cache(maxsize=1)(lambda path: open_ranker(rankers.load(path)))
_load_recommender = lru_cache(maxsize=1)(Trained)


class ByRecommender(msgspec.Struct, frozen=True):
    """The order by a recommender's scores. Calls without a score stay in the engine's order at the end. If the object's
    type is unknown, the whole list stays in the engine's order."""

    model: Path | None = None
    name: str = "PBN"
    summary: str = "method calls by a PBN that train-recommender learned from usages (--model FILE)"
    needs_names: bool = False

    def configured(self, model: Path | None) -> Ranker:
        if model is None:
            raise ConfigError(
                "completion type PBN needs a model: add --model FILE, made by `ci-eval train-recommender --kind pbn`"
            )
        # Read the model now, so that a damaged model ends the command before the first session.
        kind = Trained(model).facts.kind
        if kind != "pbn":
            raise ConfigError(
                f"{model} is a model of the kind {kind}, but completion type PBN needs the kind pbn: train one with "
                "`ci-eval train-recommender --kind pbn`"
            )
        return replace(self, model=model.resolve())

    @property
    def training_seed(self) -> int | None:
        """Return the seed of the model's training, or None if the seed had no effect."""
        return Trained(self.model).training_seed if self.model else None

    def open(self, context: FileContext) -> Ordering:
        assert self.model is not None
        trained, dialect = _load_recommender(self.model), find_dialect(context.path)

        def order(suggestions: Sequence[Suggestion], caret: CaretContext) -> Sequence[Suggestion]:
            if len(suggestions) < 2 or dialect is None:
                return suggestions
            usages = infer_usages(caret.before, caret.after, caret.path, dialect)
            known = next((usage for usage in usages if trained.knows(usage.type)), None)
            if known is None:
                return suggestions
            scores = {proposal.call: proposal.score for proposal in trained.proposals(known, threshold=0.0)}
            # Some engines add brackets or arguments to the name of a method.
            return sorted(suggestions, key=lambda suggestion: -scores.get(suggestion.text.partition("(")[0], 0.0))

        return order


RANKERS: Mapping[str, Ranker] = {"ML": ByModel(), "PBN": ByRecommender()}
