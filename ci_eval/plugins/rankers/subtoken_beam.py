"""The completion type SUBTOKEN_BEAM: by the likelihood of spellings in n-gram caches, sub-token by sub-token."""

from __future__ import annotations

from ci_eval.core.contracts import Ranker
from ci_eval.plugins.adapters.scoring import ByScore
from ci_eval.plugins.adapters.spelling import BeamOptions, SubtokenBeam

RANKER: Ranker = ByScore(
    "SUBTOKEN_BEAM",
    "by how likely n-gram caches take their spelling, sub-token by sub-token",
    SubtokenBeam,
    BeamOptions(),
)
