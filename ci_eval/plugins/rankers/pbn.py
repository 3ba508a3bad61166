"""The completion type PBN: by the likelihood of each method call on the object in front of the caret."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path

from ci_eval.core.base.errors import ConfigError
from ci_eval.core.contracts import CaretContext, FileContext, Ordering, Ranker
from ci_eval.core.model import Suggestion
from ci_eval.plugins.learning.recommenders.training import Trained
from ci_eval.plugins.mining.usages.dialect import Dialect
from ci_eval.plugins.mining.usages.texts import find_dialect, infer_usages

KIND = "pbn"


@dataclass(frozen=True)
class ByRecommender:
    """A ranker by a call recommender. Calls that the model does not know stay in the engine's order, and so do all if
    it does not know the type."""

    model: Path | None = None
    name: str = "PBN"
    summary: str = "method calls by a PBN that train-recommender made of usages (--model FILE)"
    needs_names: bool = False

    def configured(self, model: Path | None) -> Ranker:
        if model is None:
            raise ConfigError(
                "completion type PBN needs a model: add --model FILE, made by `ci-eval train-recommender --kind pbn`"
            )
        # A damaged model ends the command here, not each session.
        kind = Trained(model).facts.kind
        if kind != KIND:
            raise ConfigError(
                f"{model} is a model of the kind {kind}, and completion type PBN orders by one of the kind pbn: train "
                "it by `ci-eval train-recommender --kind pbn`"
            )
        return replace(self, model=model.resolve())

    @property
    def training_seed(self) -> int | None:
        """Return the seed of the model's training; None if another seed would have changed nothing."""
        return Trained(self.model).training_seed if self.model else None

    def open(self, context: FileContext) -> Ordering:
        assert self.model is not None
        return _Ordered(_load(self.model), find_dialect(context.path))


@dataclass(frozen=True)
class _Ordered:
    trained: Trained
    dialect: Dialect | None

    def __call__(self, suggestions: Sequence[Suggestion], caret: CaretContext) -> Sequence[Suggestion]:
        scores = self._scores(caret) if len(suggestions) > 1 else {}
        if not scores:
            return suggestions
        # Some engines add brackets or arguments to a name.
        return sorted(suggestions, key=lambda suggestion: -scores.get(suggestion.text.partition("(")[0], 0.0))

    def _scores(self, caret: CaretContext) -> Mapping[str, float]:
        """Return the likelihood of each call, empty if the model knows neither the type nor its base types."""
        if self.dialect is None:
            return {}
        usages = infer_usages(caret.before, caret.after, caret.path, self.dialect)
        known = next((usage for usage in usages if self.trained.knows(usage.type)), None)
        return (
            {proposal.call: proposal.score for proposal in self.trained.proposals(known, threshold=0.0)}
            if known
            else {}
        )


@lru_cache(maxsize=1)
def _load(path: Path) -> Trained:
    # The cache keeps one copy in each worker process.
    return Trained(path)


RANKER: Ranker = ByRecommender()
