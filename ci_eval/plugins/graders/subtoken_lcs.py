"""A grader of the share of sub-tokens that a name has in common with the expected one, in the same order."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ci_eval.core.base import subtokens
from ci_eval.core.contracts import Grader, Pairing


def longest_common(expected: Sequence[str], given: Sequence[str]) -> int:
    """Return the length of the longest common subsequence, by the bit vectors of Hyyrö (2004)."""
    # Python's integers have any length, so all tokens fit into one.
    positions: dict[str, int] = {}
    for position, token in enumerate(expected):
        positions[token] = positions.get(token, 0) | 1 << position
    row = everything = (1 << len(expected)) - 1
    for token in given:
        matches = row & positions.get(token, 0)
        row = (row + matches | row - matches) & everything
    return len(expected) - row.bit_count()


class SubtokenLcs:
    """A grader with scores from 0 to 1."""

    name = "subtoken-lcs"
    summary = "sub-tokens shared with the expected name in its order: precision, recall, F1"

    def grade(self, pairing: Pairing) -> Mapping[str, float]:
        return dict(self.grade_texts(pairing.reference, pairing.hypothesis))

    def grade_texts(self, reference: str, hypothesis: str) -> Mapping[str, float]:
        return subtokens.scores(reference, hypothesis, longest_common)


GRADER: Grader = SubtokenLcs()
