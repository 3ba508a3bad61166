"""A grader by BLEU as MERA CODE's code review has it: the expected text is graded against the given one."""

from __future__ import annotations

from collections.abc import Mapping

from sacrebleu.metrics.bleu import BLEU

from ci_eval.core.contracts import Grader, Pairing

_BLEU = BLEU()


class BleuMera:
    """A grader from 0 to 100, as `sacrebleu.corpus_bleu([reference], [[hypothesis]])`: eff:no|tok:13a|smooth:exp.

    The code that scores MERA CODE's task rucodereviewer (commit 7972841) does the same: both texts have changed places,
    and a reference of fewer than four words always gets 0.
    """

    name = "bleu-mera"
    summary = "BLEU as MERA CODE has it, with both texts in the other's place, 0 to 100"

    def grade(self, pairing: Pairing) -> Mapping[str, float]:
        bleu = _BLEU.corpus_score([pairing.reference], [[pairing.hypothesis]])
        return {"score": min(bleu.score, 100.0)}  # a perfect one is above by a rounding error


GRADER: Grader = BleuMera()
