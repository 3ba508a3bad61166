"""A grader by chrF as MERA CODE's code review has it: the expected text is graded against the given one."""

from __future__ import annotations

from collections.abc import Mapping

from sacrebleu.metrics.chrf import CHRF

from ci_eval.core.contracts import Grader, Pairing

_CHRF = CHRF()


class ChrfMera:
    """A grader from 0 to 100, as `sacrebleu.corpus_chrf([reference], [[hypothesis]])`: eff:yes|nc:6|nw:0|space:no.

    The code that scores MERA CODE's task rucodereviewer (commit 7972841) does the same: both texts have changed places,
    so what the given one has too much counts most.
    """

    name = "chrf-mera"
    summary = "chrF as MERA CODE has it, with both texts in the other's place, 0 to 100"

    def grade(self, pairing: Pairing) -> Mapping[str, float]:
        chrf = _CHRF.corpus_score([pairing.reference], [[pairing.hypothesis]])
        return {"score": min(chrf.score, 100.0)}  # a perfect one is above by a rounding error


GRADER: Grader = ChrfMera()
