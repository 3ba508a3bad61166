"""The recommender BMN, which proposes the calls of the best matching neighbours among the training usages.

Bruch, Monperrus & Mezini, "Learning from examples to improve code completion systems" (FSE 2009).
"""

from __future__ import annotations

import numpy as np

from ci_eval.plugins.learning.recommenders import model as contract
from ci_eval.plugins.learning.recommenders.model import Ints, Known, Scores, TypeModel, TypeUsages


def train(usages: TypeUsages, _options: contract.TrainingOptions) -> contract.Arrays:
    """Return the usages as arrays: `contexts`, slot by slot; `starts` and `flat` for their calls; and `counts`."""
    return {
        "contexts": usages.contexts.T.ravel(),
        "starts": usages.starts,
        "flat": usages.flat,
        "counts": usages.counts,
    }


class Neighbours:
    def __init__(self, model: TypeModel) -> None:
        self._calls = len(model.calls)
        self._counts = model.numbers("counts", least=1)
        self._flat = model.numbers("flat", below=self._calls)
        self._starts = model.starts("starts", of=len(self._flat))
        contexts = model.numbers("contexts", least=-1)
        size = len(self._counts)
        contract.require(
            len(self._starts) == size + 1 and len(contexts) == size * len(contract.SLOTS), "its arrays differ in size"
        )
        self._contexts = contexts.reshape(len(contract.SLOTS), size)
        row = np.repeat(np.arange(size), np.diff(self._starts))
        by_call = np.argsort(self._flat, kind="stable")
        self._rows = row[by_call]
        self._of_call = np.searchsorted(self._flat[by_call], np.arange(self._calls + 1))

    def distances(self, known: Known) -> Ints:
        """Return the number of columns (calls and values of slots) in which each usage differs from the query."""
        # Calls that only the usage has are ignored: they are the calls to propose.
        distances = np.full(len(self._counts), len(known.calls))
        for slot, value in enumerate(known.contexts):
            theirs = self._contexts[slot]
            if value != contract.IGNORED:
                distances += (theirs != value) & (theirs >= 0)
            if value >= 0:
                distances += theirs != value
        for call in known.calls:
            distances[self._rows[self._of_call[call] : self._of_call[call + 1]]] -= 1
        return distances

    def __call__(self, known: Known) -> Scores:
        distances = self.distances(known)
        nearest = np.flatnonzero(distances == distances.min())
        at, owner = contract.part(self._starts, nearest)
        counts = self._counts[nearest]
        having = np.bincount(self._flat[at], weights=counts[owner], minlength=self._calls)
        return Scores(scores=having / counts.sum())


RECOMMENDER = contract.Recommender(
    name="bmn",
    summary="best matching neighbours (Bruch, Monperrus & Mezini 2009)",
    options=contract.TrainingOptions,
    train=train,
    open=lambda model, _: Neighbours(model),
    strict=True,
)
