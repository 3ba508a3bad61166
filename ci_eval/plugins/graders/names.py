"""The graders of names: whether a name is the expected name, and how many sub-tokens both share."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

import msgspec

from ci_eval.core.base import subtokens
from ci_eval.core.contracts import Grader, Pairing


class Exact:
    name = "exact"
    summary = "1 if the text is the expected text, else 0"

    def grade(self, pairing: Pairing) -> Mapping[str, float]:
        return {"exact": float(pairing.hypothesis == pairing.reference)}


class Subtokens(msgspec.Struct, frozen=True):
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
        "subtoken-f1",
        "sub-tokens shared with the expected name in any order: precision, recall, F1",
        lambda expected, given: (Counter(expected) & Counter(given)).total(),
    ),
    "subtoken-lcs": Subtokens(
        "subtoken-lcs",
        "sub-tokens shared with the expected name in the same order: precision, recall, F1",
        subtokens.longest_common,
    ),
}
