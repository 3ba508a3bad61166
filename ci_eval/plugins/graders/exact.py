"""A grader that compares a text with the expected one, character for character."""

from __future__ import annotations

from collections.abc import Mapping

from ci_eval.core.contracts import Grader, Pairing


class Exact:
    """A grader that gives 1 to the expected text, and 0 to others."""

    name = "exact"
    summary = "1 where the text is the expected one, else 0"

    def grade(self, pairing: Pairing) -> Mapping[str, float]:
        return {"exact": float(pairing.hypothesis == pairing.reference)}


GRADER: Grader = Exact()
