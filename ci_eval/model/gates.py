"""The result of a gate."""

from __future__ import annotations

from ci_eval.model.tokens import Value


class GateResult(Value, frozen=True, kw_only=True):
    """A gate's rule, and whether the new side keeps it."""

    rule: str
    passed: bool
    reason: str
