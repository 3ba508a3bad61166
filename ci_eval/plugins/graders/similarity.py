"""The graders by BLEU and chrF: how many sequences of words or characters a text shares with the expected text.

The graders with `mera` in their names compute the scores of MERA CODE's task rucodereviewer (commit 7972841). This task
swaps the two texts, so surplus text in the suggestion lowers the scores most.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import msgspec
from sacrebleu.metrics.bleu import BLEU
from sacrebleu.metrics.chrf import CHRF

from ci_eval.core.contracts import Grader, Pairing

# Without `effective_order`, the score of a text of fewer than four words would be 0.
_BLEU, _BLEU_MERA, _CHRF = BLEU(effective_order=True), BLEU(), CHRF()


class Similarity(msgspec.Struct, frozen=True):
    """A grader with scores from 0 to 100."""

    name: str
    summary: str
    score: Callable[[Pairing], float]

    def grade(self, pairing: Pairing) -> Mapping[str, float]:
        return {"score": min(self.score(pairing), 100.0)}  # rounding errors may exceed 100


_GRADERS: tuple[Grader, ...] = (
    # The settings are those of `sacrebleu.sentence_bleu`: eff:yes|tok:13a|smooth:exp.
    Similarity(
        "bleu",
        "BLEU of the text against the expected text, 0 to 100",
        lambda pairing: _BLEU.sentence_score(pairing.hypothesis, [pairing.reference]).score,
    ),
    # The settings are those of `sacrebleu.corpus_bleu([reference], [[hypothesis]])`: eff:no, so the score is 0 if the
    # reference has fewer than four words.
    Similarity(
        "bleu-mera",
        "BLEU as in MERA CODE, with the two texts swapped, 0 to 100",
        lambda pairing: _BLEU_MERA.corpus_score([pairing.reference], [[pairing.hypothesis]]).score,
    ),
    # The settings are those of `sacrebleu.sentence_chrf`: eff:yes|nc:6|nw:0|space:no. Missing parts of the
    # expected text lower the score most.
    Similarity(
        "chrf",
        "chrF of the text against the expected text, 0 to 100",
        lambda pairing: _CHRF.sentence_score(pairing.hypothesis, [pairing.reference]).score,
    ),
    Similarity(
        "chrf-mera",
        "chrF as in MERA CODE, with the two texts swapped, 0 to 100",
        lambda pairing: _CHRF.corpus_score([pairing.reference], [[pairing.hypothesis]]).score,
    ),
)
GRADERS: Mapping[str, Grader] = {grader.name: grader for grader in _GRADERS}
