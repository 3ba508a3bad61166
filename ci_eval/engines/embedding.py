"""A baseline: the average of what stands around a place, in vectors of sub-tokens that the project itself gives."""

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
