"""The result of a gate."""

from __future__ import annotations

from typing import Literal

from ci_eval.model.tokens import Number, Value


class GateResult(Value, frozen=True, kw_only=True):
    """A gate's rule, and whether the new side keeps it."""

    rule: str
    passed: bool
    """Whether the job goes on: what is undecided may pass, by `--undecided`."""
    reason: str
    result: Literal["", "kept", "broken", "undecided"] = ""
    """undecided: the interval holds both what keeps the rule and what breaks it. "" only of results stored before there
    were three."""
    needed: Number | None = None
    """About how many sessions, of those the gate is about, would decide; None where no number of them would."""

    @property
    def word(self) -> str:
        """Return the result, also of one that was stored before there were three."""
        return self.result or ("kept" if self.passed else "broken")
