"""A grader by chrF: how many character sequences both texts share. What the text lacks of the expected one counts
most."""

from __future__ import annotations

from collections.abc import Mapping

from sacrebleu.metrics.chrf import CHRF

from ci_eval.core.contracts import Grader, Pairing

_CHRF = CHRF()


class Chrf:
    """A grader from 0 to 100, as `sacrebleu.sentence_chrf`: eff:yes|nc:6|nw:0|space:no."""

    name = "chrf"
    summary = "chrF of the text against the expected one, 0 to 100"

    def grade(self, pairing: Pairing) -> Mapping[str, float]:
        chrf = _CHRF.sentence_score(pairing.hypothesis, [pairing.reference])
        return {"score": min(chrf.score, 100.0)}  # a perfect one is above by a rounding error


GRADER: Grader = Chrf()
