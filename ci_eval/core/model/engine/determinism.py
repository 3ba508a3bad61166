"""The counts of sessions that were asked again, and of those that were answered differently."""

from __future__ import annotations

from typing import Literal

from ci_eval.core.model.tokens import Number, Value

State = Literal["exact", "sampled", "noisy", "weighted", "partial", "none"]
"""The reliability of a figure.

exact: all sessions were asked, and the engine was shown to answer alike. sampled: some were asked. noisy: answers
differ when sessions are asked again. weighted: sessions stand for different numbers of others. partial: all were asked,
but too few of them twice to show that the engine answers alike. none: there is no figure, or none to compare it with.
"""


class Determinism(Value, frozen=True, kw_only=True):
    """The sessions that were asked more than once, and those of them that were not answered alike each time."""

    asked: Number = 0
    differed: Number = 0

    def __add__(self, other: Determinism) -> Determinism:
        return Determinism(asked=self.asked + other.asked, differed=self.differed + other.differed)

    @property
    def share(self) -> float:
        """The share of the sessions asked again that differed; 0 if none was asked again."""
        return self.differed / self.asked if self.asked else 0.0
