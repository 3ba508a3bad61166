"""How many of its sub-tokens a name shares with the expected one, in whatever order."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from ci_eval import subtokens
from ci_eval.contracts import Grader, Pairing


def in_common(expected: Sequence[str], given: Sequence[str]) -> int:
    """How many of `given` are in `expected`, each as often at most as it is there."""
    return (Counter(expected) & Counter(given)).total()


class SubtokenF1:
    """0 to 1."""

    name = "subtoken-f1"
    summary = "sub-tokens shared with the expected name in any order: precision, recall, F1"

    def grade(self, pairing: Pairing) -> Mapping[str, float]:
        """See Grader."""
        return dict(self.grade_texts(pairing.reference, pairing.hypothesis))

    def grade_texts(self, reference: str, hypothesis: str) -> Mapping[str, float]:
        """See graders.OfTexts."""
        return subtokens.scores(reference, hypothesis, in_common)


GRADER: Grader = SubtokenF1()
