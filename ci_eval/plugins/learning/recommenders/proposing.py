"""The proposals of a trained recommender."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np

from ci_eval.core.model import ObjectUsage
from ci_eval.plugins.learning import recommenders
from ci_eval.plugins.learning.recommenders.contract import Scorer
from ci_eval.plugins.learning.recommenders.file import load
from ci_eval.plugins.learning.recommenders.reading import encode_usage
from ci_eval.plugins.learning.recommenders.training import parse_options

OPEN = 1000
"""Number of types that the cache holds."""


@dataclass(frozen=True)
class Proposal:
    """A method to call, and how likely that is, from 0 to 1."""

    call: str
    score: float


@dataclass(frozen=True)
class _Type:
    scorer: Scorer
    names: list[str]
    calls: dict[str, int]
    values: list[dict[str, int]]


class Trained:
    def __init__(self, path: Path) -> None:
        """Load a model. Raises ConfigError if the file is none."""
        self._stored = load(path)
        self.facts = self._stored.facts
        self.kind = recommenders.CATALOG.load(self.facts.kind)
        self.options = parse_options(self.kind, self.facts.options)
        self._type = lru_cache(OPEN)(self._open)

    @property
    def training_seed(self) -> int | None:
        """Return the seed by which usages were sampled; None if all were learnt from."""
        return self.options.seed if 0 < self.options.most_usages < self.facts.usages else None

    def _open(self, name: str) -> _Type | None:
        model = self._stored.type(name)
        if model is None:
            return None
        calls, *values = ({text: place for place, text in enumerate(of)} for of in (model.calls, *model.values))
        return _Type(self.kind.open(model, self.options), list(model.calls), calls, values)

    def knows(self, type_: str) -> bool:
        return self._type(type_) is not None

    def proposals(
        self, query: ObjectUsage, *, threshold: float | None = None, unknown_definition: bool = True
    ) -> list[Proposal]:
        """Return the calls whose scores reach the threshold (None: the usual one of its kind), the likeliest first,
        without those of the query. The list is empty if the type is not known.

        `unknown_definition` says whether an unknown definition is evidence. Raises ConfigError if the model is damaged.
        """
        of = self._type(query.type)
        if of is None:
            return []
        known = encode_usage(query, of.calls, of.values, self.options, unknown=unknown_definition)
        scored = of.scorer(known)
        scores = scored.scores.copy()
        scores[known.calls] = -1.0
        least = self.kind.threshold if threshold is None else threshold
        reached = scores > least if self.kind.strict else scores >= least
        places = np.flatnonzero(reached & (scores > 0))
        ties = np.zeros(len(scores)) if scored.ties is None else scored.ties
        # Positions are in order of the names, which order equal scores and ties.
        order = np.lexsort((places, -ties[places], -scores[places]))
        return [Proposal(of.names[position], float(scores[position])) for position in places[order].tolist()]
