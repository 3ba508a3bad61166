"""The completion type EMBEDDING: by nearness to the nearby sub-tokens, in vectors learnt from the project."""

from __future__ import annotations

from ci_eval.core.contracts import Ranker
from ci_eval.plugins.adapters.averaging import ByAverage, EmbeddingOptions
from ci_eval.plugins.adapters.scoring import ByScore

RANKER: Ranker = ByScore(
    "EMBEDDING",
    "by nearness to the average of what stands around, in vectors of sub-tokens that the project gives",
    ByAverage,
    EmbeddingOptions(),
)
