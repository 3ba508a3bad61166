"""Whether it is what was expected, character for character."""

from __future__ import annotations

from collections.abc import Mapping

from ci_eval.contracts import Grader, Pairing


class Exact:
    """1 or 0."""

    name = "exact"
    summary = "1 where the text is the expected one, else 0"

    def grade(self, pairing: Pairing) -> Mapping[str, float]:
        """See Grader."""
        return {"exact": float(pairing.hypothesis == pairing.reference)}


GRADER: Grader = Exact()
