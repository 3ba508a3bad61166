"""A grader of the share of sub-tokens that a name has in common with the expected one, in any order."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from ci_eval.core.base import subtokens
from ci_eval.core.contracts import Grader, Pairing


def count_common(expected: Sequence[str], given: Sequence[str]) -> int:
    """Return how many of `given` are in `expected`, each at most as often as it is there."""
    return (Counter(expected) & Counter(given)).total()


class SubtokenF1:
    """A grader with scores from 0 to 1."""

    name = "subtoken-f1"
    summary = "sub-tokens shared with the expected name in any order: precision, recall, F1"

    def grade(self, pairing: Pairing) -> Mapping[str, float]:
        return dict(self.grade_texts(pairing.reference, pairing.hypothesis))

    def grade_texts(self, reference: str, hypothesis: str) -> Mapping[str, float]:
        return subtokens.scores(reference, hypothesis, count_common)


GRADER: Grader = SubtokenF1()
