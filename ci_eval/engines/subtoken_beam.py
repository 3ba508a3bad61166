"""A baseline: names are spelled out sub-token by sub-token, by nested n-gram caches, and the likeliest are kept."""

from __future__ import annotations

from ci_eval.adapters.predicting import predictor
from ci_eval.adapters.spelling import BeamOptions, SubtokenBeam
from ci_eval.contracts import Engine

ENGINE: Engine = predictor(
    "subtoken-beam",
    "baseline: names spelled out sub-token by sub-token by n-gram caches, any language",
    SubtokenBeam,
    BeamOptions(),
)
