"""Which sessions were asked, where a run asked only as many as its precision took, and what each of them stands for."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta

from ci_eval.model.tokens import Number, Value


class Stratum(Value, frozen=True, kw_only=True):
    """Sessions that were expected to go about equally well, of which some were drawn in one phase."""

    phase: Number
    """Number of the phase, from 0."""
    sessions: Number
    """Sessions in it that had not been asked before that phase."""
    asked: Annotated[int, Meta(ge=1, le=10**9)]
    """Of these, how many were drawn."""


class Sampling(Value, frozen=True, kw_only=True):
    """A sample drawn in phases (`statistics/phases.py`).

    After each phase, what was asked before it is known, and its strata stand for the rest. That is an estimate of any
    total; the figures are a mean of these estimates.
    """

    metric: str
    """Name of the metric whose interval was to be narrow enough."""
    precision: Annotated[float, Meta(gt=0, lt=1)]
    """Half the width that the interval of that metric was to have at most."""
    shares: tuple[Annotated[float, Meta(ge=0, le=1)], ...]
    """Of each phase: the share of its estimate in that mean."""
    strata: tuple[Stratum, ...]
    """A session's `stratum` is a place in here, from 1."""

    def weights(self) -> list[float]:
        """Of each stratum: the number of sessions of the project that one session of it stands for."""
        later = [sum(self.shares[phase + 1 :]) for phase in range(len(self.shares))]
        return [
            self.shares[each.phase] * each.sessions / each.asked + later[each.phase] for each in self.strata
        ]

    def check(self) -> None:
        """Raises ValueError where its numbers contradict each other."""
        if any(each.phase >= len(self.shares) or each.asked > each.sessions for each in self.strata):
            raise ValueError("a stratum of the sample has more sessions asked than it has, or no phase")
        if abs(sum(self.shares) - 1) > 1e-6:
            raise ValueError("the shares of the sample's phases are not 1 in sum")
