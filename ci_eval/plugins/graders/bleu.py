"""A grader by BLEU: the share of the text's word sequences that the expected one has, with a penalty for being
shorter."""

from __future__ import annotations

from collections.abc import Mapping

from sacrebleu.metrics.bleu import BLEU

from ci_eval.core.contracts import Grader, Pairing

# Without effective order, a text of fewer than four words gets 0 even if it is the expected one.
_BLEU = BLEU(effective_order=True)


class Bleu:
    """A grader from 0 to 100, as `sacrebleu.sentence_bleu`: eff:yes|tok:13a|smooth:exp."""

    name = "bleu"
    summary = "BLEU of the text against the expected one, 0 to 100"

    def grade(self, pairing: Pairing) -> Mapping[str, float]:
        bleu = _BLEU.sentence_score(pairing.hypothesis, [pairing.reference])
        return {"score": min(bleu.score, 100.0)}  # a perfect one is above by a rounding error


GRADER: Grader = Bleu()
