"""A baseline that averages the vectors of the sub-tokens near the caret. The project itself gives these vectors."""

from __future__ import annotations

from ci_eval.adapters.averaging import ByAverage, EmbeddingOptions
from ci_eval.adapters.predicting import predictor
from ci_eval.contracts import Engine

ENGINE: Engine = predictor(
    "embedding",
    "baseline: the average of vectors of the sub-tokens around, which the project gives; any language",
    ByAverage,
    EmbeddingOptions(),
)
