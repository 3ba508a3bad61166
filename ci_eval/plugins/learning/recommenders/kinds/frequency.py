"""The recommender Frequency, a baseline: the most frequent calls on objects of the type, in any context.

Bruch, Monperrus & Mezini, "Learning from examples to improve code completion systems" (FSE 2009).
"""

from __future__ import annotations

import numpy as np

from ci_eval.plugins.learning.recommenders.model import (
    Arrays,
    Recommender,
    Scorer,
    Scores,
    TrainingOptions,
    TypeModel,
    TypeUsages,
    part,
    require,
)


def train(usages: TypeUsages, _options: TrainingOptions) -> Arrays:
    """Return `usages`, their number, and `counts`, the usages with each call."""
    _, owner = part(usages.starts, np.arange(len(usages.counts)))
    counts = np.bincount(usages.flat, weights=usages.counts[owner], minlength=len(usages.calls))
    return {"usages": usages.counts.sum(keepdims=True), "counts": counts.astype(np.int64)}


def open_(model: TypeModel, _options: TrainingOptions) -> Scorer:
    total, counts = model.numbers("usages", least=1), model.numbers("counts")
    require(len(counts) == len(model.calls) and len(total) == 1, "its counts are not those of its calls")
    scores = Scores(scores=counts / total)
    return lambda _: scores


RECOMMENDER = Recommender(
    name="frequency",
    summary="baseline: the most frequent calls of the type",
    options=TrainingOptions,
    train=train,
    open=open_,
)
