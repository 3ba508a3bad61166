"""BLEU as MERA CODE's code review has it: the expected text is graded against the given one."""

from __future__ import annotations

from collections.abc import Mapping

from sacrebleu.metrics.bleu import BLEU

from ci_eval.contracts import Grader, Pairing

_BLEU = BLEU()


class BleuMera:
    """0 to 100, as `sacrebleu.corpus_bleu([reference], [[hypothesis]])`: eff:no|tok:13a|smooth:exp.

    So of the code that scores MERA CODE's task rucodereviewer (commit 7972841): both texts stand in the other's place,
    and a reference of fewer than four words always gets 0.
    """

    name = "bleu-mera"
    summary = "BLEU as MERA CODE has it, with both texts in the other's place, 0 to 100"

    def grade(self, pairing: Pairing) -> Mapping[str, float]:
        """See Grader."""
        found = _BLEU.corpus_score([pairing.reference], [[pairing.hypothesis]])
        return {"score": min(found.score, 100.0)}  # a perfect one is above by a rounding error


GRADER: Grader = BleuMera()
