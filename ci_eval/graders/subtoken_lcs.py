"""How many of its sub-tokens a name shares with the expected one, in the same order."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ci_eval import subtokens
from ci_eval.contracts import Grader, Pairing


def longest_common(expected: Sequence[str], given: Sequence[str]) -> int:
    """Length of the longest common subsequence, by the bit vectors of Hyyrö (2004)."""
    places: dict[str, int] = {}
    for place, token in enumerate(expected):
        places[token] = places.get(token, 0) | 1 << place
    row = everything = (1 << len(expected)) - 1
    for token in given:
        met = row & places.get(token, 0)
        row = (row + met | row - met) & everything
    return len(expected) - row.bit_count()


class SubtokenLcs:
    """0 to 1."""

    name = "subtoken-lcs"
    summary = "sub-tokens shared with the expected name in its order: precision, recall, F1"

    def grade(self, pairing: Pairing) -> Mapping[str, float]:
        """See Grader."""
        return dict(self.grade_texts(pairing.reference, pairing.hypothesis))

    def grade_texts(self, reference: str, hypothesis: str) -> Mapping[str, float]:
        """See graders.OfTexts."""
        return subtokens.scores(reference, hypothesis, longest_common)


GRADER: Grader = SubtokenLcs()
