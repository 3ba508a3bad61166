"""The recommender by association rules. A rule leads from a few features (calls, values of slots) to a call.

Agrawal & Srikant, "Fast algorithms for mining association rules" (VLDB 1994); for calls, Bruch, Monperrus & Mezini (FSE
2009).
"""

from __future__ import annotations

from collections import Counter
from itertools import combinations
from typing import Annotated

import numpy as np
from msgspec import Meta

from ci_eval.plugins.learning.recommenders import model as contract
from ci_eval.plugins.learning.recommenders.model import NONE, Known, Scores, TypeModel, TypeUsages

Items = tuple[int, ...]
"""Numbers of features in ascending order. Calls have the lowest numbers."""


class RulesOptions(contract.TrainingOptions, frozen=True, kw_only=True):
    support: Annotated[int, Meta(ge=1)] = 2
    """The fewest usages that have all features of a rule."""
    confidence: Annotated[float, Meta(gt=0, le=1)] = 0.30
    """The minimum share of usages with the antecedents that also have the call."""
    antecedents: Annotated[int, Meta(ge=0, le=3)] = 2
    """The most features that a rule leads from; 0 for rules by the type alone."""


def train(usages: TypeUsages, options: RulesOptions) -> contract.Arrays:
    """Return an array element per rule: `antecedents` (padded with NONE to the number that the options allow),
    `consequents` (calls), `support` (the number of usages with all of these features) and `confidence`."""
    supports = _supports(usages, options)
    rules: list[tuple[Items, int]] = []
    for items, support_of_items in supports.items():
        for call in (item for item in items if item < len(usages.calls)):
            antecedents = tuple(item for item in items if item != call)
            confidence = support_of_items / supports[antecedents]
            # Leave out a rule if another rule with fewer of its antecedents has at least the same confidence.
            if confidence >= options.confidence and not any(
                supports[tuple(sorted((*less, call)))] / supports[less] >= confidence
                for size in range(len(antecedents))
                for less in combinations(antecedents, size)
            ):
                rules.append((antecedents, call))
    rules.sort()
    width = options.antecedents
    padded = [(*items, *[NONE] * (width - len(items))) for items, _ in rules]
    support = [supports[tuple(sorted((*items, call)))] for items, call in rules]
    before = [supports[items] for items, _ in rules]
    return {
        "antecedents": np.array(padded, dtype=np.int64).ravel(),
        "consequents": np.array([call for _, call in rules], dtype=np.int64),
        "support": np.array(support, dtype=np.int64),
        "confidence": np.array(support, dtype=np.float64) / np.array(before),
    }


def _supports(usages: TypeUsages, options: RulesOptions) -> dict[Items, int]:
    """Return the number of usages of each frequent set of features."""
    first = np.cumsum([len(usages.calls), *map(len, usages.values)])[:-1]
    contexts = np.where(usages.contexts >= 0, usages.contexts + first, NONE).tolist()
    calls = [calls_of_row.tolist() for calls_of_row in np.split(usages.flat, usages.starts[1:-1])]
    rows = [(*own, *(value for value in around if value >= 0)) for own, around in zip(calls, contexts, strict=True)]
    counts = usages.counts.tolist()
    frequent: dict[Items, int] = {(): int(usages.counts.sum())}
    for size in range(1, options.antecedents + 2):
        level: Counter[Items] = Counter()
        for row, count in zip(rows, counts, strict=True):
            for items in combinations(row, size):
                # The rows hold only frequent features from level 2 on, so pairs need no test.
                if size < 3 or all(subset in frequent for subset in combinations(items, size - 1)):
                    level[items] += count
        kept = {items: count for items, count in level.items() if count >= options.support}
        frequent |= kept
        if size == 1:
            rows = [tuple(item for item in row if (item,) in kept) for row in rows]
    return frequent


class Rules:
    def __init__(self, model: TypeModel, options: RulesOptions) -> None:
        self._model = model
        self._consequents = model.numbers("consequents", below=len(model.calls))
        self._support = model.numbers("support", least=1).astype(np.float64)
        self._confidence = model.floats("confidence")
        size = len(self._consequents)
        antecedents = model.numbers("antecedents", least=NONE, below=model.features)
        sizes = {len(self._support), len(self._confidence), size}
        contract.require(
            len(sizes) == 1 and len(antecedents) == size * options.antecedents, "its arrays differ in size"
        )
        self._antecedents = antecedents.reshape(size, options.antecedents)

    def __call__(self, known: Known) -> Scores:
        """Score each call by the highest confidence of the applicable rules. Support breaks ties."""
        # The last element stands for NONE, which every query has.
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


RECOMMENDER = contract.Recommender(
    name="rules",
    summary="association rules from values and calls to calls",
    options=RulesOptions,
    train=train,
    open=Rules,
)
