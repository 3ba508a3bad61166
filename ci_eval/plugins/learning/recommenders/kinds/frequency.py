"""The recommender Frequency, a baseline that proposes the most frequent calls on objects of the type, in any context.

Bruch, Monperrus & Mezini, "Learning from examples to improve code completion systems" (FSE 2009).
"""

from __future__ import annotations

import numpy as np

from ci_eval.plugins.learning.recommenders import model as contract
from ci_eval.plugins.learning.recommenders.model import Scores, TypeModel, TypeUsages


def train(usages: TypeUsages, _options: contract.TrainingOptions) -> contract.Arrays:
    """Return the arrays `usages` (the number of usages) and `counts` (the number of usages with each call)."""
    _, owner = contract.part(usages.starts, np.arange(len(usages.counts)))
    counts = np.bincount(usages.flat, weights=usages.counts[owner], minlength=len(usages.calls))
    return {"usages": usages.counts.sum(keepdims=True), "counts": counts.astype(np.int64)}


def open_(model: TypeModel, _options: contract.TrainingOptions) -> contract.Scorer:
    total, counts = model.numbers("usages", least=1), model.numbers("counts")
    contract.require(len(counts) == len(model.calls) and len(total) == 1, "its counts do not match its calls")
    scores = Scores(scores=counts / total)
    return lambda _: scores


RECOMMENDER = contract.Recommender(
    name="frequency",
    summary="baseline: the most frequent calls of the type",
    options=contract.TrainingOptions,
    train=train,
    open=open_,
)
