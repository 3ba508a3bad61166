"""A baseline that averages the vectors of the sub-tokens near the caret. The project itself gives these vectors."""

from __future__ import annotations

from ci_eval.core.contracts import Engine
from ci_eval.plugins.adapters.averaging import ByAverage, EmbeddingOptions
from ci_eval.plugins.adapters.predicting import predictor

ENGINE: Engine = predictor(
    "embedding",
    "baseline: the average of vectors of the sub-tokens around, which the project gives; any language",
    ByAverage,
    EmbeddingOptions(),
)
