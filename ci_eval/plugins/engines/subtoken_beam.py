"""A baseline that spells out names sub-token by sub-token, by nested n-gram caches, and suggests the likeliest."""

from __future__ import annotations

from ci_eval.core.contracts import Engine
from ci_eval.plugins.adapters.predicting import predictor
from ci_eval.plugins.adapters.spelling import BeamOptions, SubtokenBeam

ENGINE: Engine = predictor(
    "subtoken-beam",
    "baseline: names spelled out sub-token by sub-token by n-gram caches, any language",
    SubtokenBeam,
    BeamOptions(),
)
