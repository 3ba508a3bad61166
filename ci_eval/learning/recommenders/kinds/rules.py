"""Association rules: where these are seen, that call is seen, too.

Agrawal & Srikant, "Fast algorithms for mining association rules" (VLDB 1994); for calls, Bruch, Monperrus & Mezini (FSE
2009).

What a rule follows from are calls and values of slots, together; no more than a few, so that rules stay few, too.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from itertools import combinations
from typing import Annotated

import numpy as np
from msgspec import Meta

from ci_eval.learning.recommenders.contract import (
    NONE,
    Arrays,
    Known,
    Recommender,
    Scorer,
    Scores,
    TrainingOptions,
    TypeModel,
    TypeUsages,
    require,
)

Items = tuple[int, ...]
"""Features, ascending: calls come first."""


class RulesOptions(TrainingOptions, frozen=True, kw_only=True):
    """The options of `rules`."""

    support: Annotated[int, Meta(ge=1)] = 2
    """The fewest usages that have all that a rule is about."""
    confidence: Annotated[float, Meta(gt=0, le=1)] = 0.30
    """The least share of usages with the call among those that have what it follows from."""
    antecedents: Annotated[int, Meta(ge=0, le=3)] = 2
    """The most features that a call follows from; 0 = from the type alone."""


def train(usages: TypeUsages, options: RulesOptions) -> Arrays:
    """`antecedents`: of each rule so many features as the options allow, NONE where there are fewer; the call that
    follows (`consequents`), how many usages have all of it (`support`), and the `confidence`."""
    supports = _supports(usages, options)
    found = sorted(_rules(supports, len(usages.calls), options))
    width = options.antecedents
    padded = [(*items, *[NONE] * (width - len(items))) for items, _ in found]
    support = [supports[tuple(sorted((*items, call)))] for items, call in found]
    before = [supports[items] for items, _ in found]
    return {
        "antecedents": np.array(padded, dtype=np.int64).ravel(),
        "consequents": np.array([call for _, call in found], dtype=np.int64),
        "support": np.array(support, dtype=np.int64),
        "confidence": np.array(support, dtype=np.float64) / np.array(before),
    }


def _supports(usages: TypeUsages, options: RulesOptions) -> dict[Items, int]:
    """In how many usages features are together, of all that are frequent enough, level by level (Apriori)."""
    rows = _items(usages)
    counts = usages.counts.tolist()
    frequent: dict[Items, int] = {(): int(usages.counts.sum())}
    for size in range(1, options.antecedents + 2):
        level: Counter[Items] = Counter()
        for row, count in zip(rows, counts, strict=True):
            for items in combinations(row, size):
                if size < 3 or all(each in frequent for each in combinations(items, size - 1)):
                    level[items] += count
        kept = {items: count for items, count in level.items() if count >= options.support}
        frequent |= kept
        if size == 1:
            rows = [tuple(each for each in row if (each,) in kept) for row in rows]
    return frequent


def _items(usages: TypeUsages) -> list[Items]:
    first = np.cumsum([len(usages.calls), *map(len, usages.values)])[:-1]
    contexts = np.where(usages.contexts >= 0, usages.contexts + first, NONE).tolist()
    calls = [each.tolist() for each in np.split(usages.flat, usages.starts[1:-1])]
    return [(*own, *(each for each in around if each >= 0)) for own, around in zip(calls, contexts, strict=True)]


def _rules(supports: Mapping[Items, int], calls: int, options: RulesOptions) -> Iterator[tuple[Items, int]]:
    """What each call follows from, but where it follows from less with the same confidence or a higher one."""
    for items, support in supports.items():
        for call in (each for each in items if each < calls):
            rest = tuple(each for each in items if each != call)
            confidence = support / supports[rest]
            if confidence >= options.confidence and not any(
                supports[tuple(sorted((*less, call)))] / supports[less] >= confidence
                for size in range(len(rest))
                for less in combinations(rest, size)
            ):
                yield rest, call


class Rules:
    """The rules of one type."""

    def __init__(self, model: TypeModel, options: RulesOptions) -> None:
        """Raises ConfigError where the model is none of this kind."""
        self._model = model
        self._consequents = model.numbers("consequents", below=len(model.calls))
        self._support = model.numbers("support", least=1).astype(np.float64)
        self._confidence = model.floats("confidence")
        size = len(self._consequents)
        antecedents = model.numbers("antecedents", least=NONE, below=model.features)
        sizes = {len(self._support), len(self._confidence), size}
        require(len(sizes) == 1 and len(antecedents) == size * options.antecedents, "its rules differ in number")
        self._antecedents = antecedents.reshape(size, options.antecedents)

    def __call__(self, known: Known) -> Scores:
        """The highest confidence of the rules that fire, of equal ones the highest support."""
        # The last place stands for NONE, which every query has.
        seen = np.zeros(self._model.features + 1, dtype=bool)
        seen[NONE] = True
        seen[known.calls] = True
        seen[[self._model.feature(slot, value) for slot, value in enumerate(known.contexts) if value >= 0]] = True
        fires = np.flatnonzero(seen[self._antecedents].all(axis=1))
        scores, ties = np.zeros(len(self._model.calls)), np.zeros(len(self._model.calls))
        calls, confidence = self._consequents[fires], self._confidence[fires]
        np.maximum.at(scores, calls, confidence)
        best = confidence == scores[calls]
        np.maximum.at(ties, calls[best], self._support[fires][best])
        return Scores(scores=scores, ties=ties)


def open_(model: TypeModel, options: RulesOptions) -> Scorer:
    """See Recommender."""
    return Rules(model, options)


RECOMMENDER = Recommender(
    name="rules",
    summary="association rules from values and calls to calls",
    options=RulesOptions,
    train=train,
    open=open_,
)
