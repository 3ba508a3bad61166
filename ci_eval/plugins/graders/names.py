"""The graders of a name against the expected one: equal or not, and how many sub-tokens they share."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

import msgspec

from ci_eval.core.base import subtokens
from ci_eval.core.contracts import Grader, Pairing


class Exact:
    """A grader that gives 1 to the expected text, character for character, and 0 to others."""

    name = "exact"
    summary = "1 where the text is the expected one, else 0"

    def grade(self, pairing: Pairing) -> Mapping[str, float]:
        return {"exact": float(pairing.hypothesis == pairing.reference)}


def count_common(expected: Sequence[str], given: Sequence[str]) -> int:
    """Return how many of `given` are in `expected`, each at most as often as it is there."""
    return (Counter(expected) & Counter(given)).total()


class Subtokens(msgspec.Struct, frozen=True):
    """A grader of the share of sub-tokens that two names have in common, from 0 to 1."""

    name: str
    summary: str
    shared: subtokens.Shared

    def grade(self, pairing: Pairing) -> Mapping[str, float]:
        return dict(self.grade_texts(pairing.reference, pairing.hypothesis))

    def grade_texts(self, reference: str, hypothesis: str) -> Mapping[str, float]:
        return subtokens.scores(reference, hypothesis, self.shared)


GRADERS: Mapping[str, Grader] = {
    "exact": Exact(),
    "subtoken-f1": Subtokens(
        "subtoken-f1", "sub-tokens shared with the expected name in any order: precision, recall, F1", count_common
    ),
    "subtoken-lcs": Subtokens(
        "subtoken-lcs",
        "sub-tokens shared with the expected name in its order: precision, recall, F1",
        subtokens.longest_common,
    ),
}
