"""The result of a gate."""

from __future__ import annotations

from typing import Literal

from ci_eval.core.model.tokens import Number, Value


class GateResult(Value, frozen=True, kw_only=True):
    """The rule of a gate, and whether the new side keeps it."""

    rule: str
    passed: bool
    """True if the job goes on: an undecided gate may pass, by `--undecided`."""
    reason: str
    result: Literal["", "kept", "broken", "undecided"] = ""
    """The result of the check. It is undecided if the interval holds both values that keep the rule and values that
    break it, and "" only if it was stored before there were three results."""
    needed: Number | None = None
    """About how many sessions, of those the gate is about, would decide; None if no number of them would."""

    @property
    def word(self) -> str:
        """Return the result, also of one that was stored before there were three."""
        return self.result or ("kept" if self.passed else "broken")
