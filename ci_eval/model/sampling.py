"""Which sessions were asked, where a run asked only as many as its precision took, and what each of them stands for."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta

from ci_eval.model.tokens import Number, Value

Share = Annotated[float, Meta(ge=0, le=1)]


class Stratum(Value, frozen=True, kw_only=True):
    """Sessions that were expected to go about equally well, of which some were drawn in one phase."""

    phase: Number
    """Number of the phase, from 0."""
    sessions: Number
    """Sessions in it that had not been asked before that phase."""
    asked: Annotated[int, Meta(ge=1, le=10**9)]
    """Of these, how many were drawn."""
    share: Share
    """The share of its phase's estimate in the figures."""
    later: Share
    """The share of the estimates of all later phases, for which what was asked in this one is known."""

    @property
    def weight(self) -> float:
        """The number of sessions of the project that one of its sessions stands for."""
        return self.share * self.sessions / self.asked + self.later


class Sampling(Value, frozen=True, kw_only=True):
    """A sample drawn in phases (`statistics/phases.py`).

    After each phase, what was asked before it is known, and its strata stand for the rest. That is an estimate of any
    total; the figures are a mean of these estimates. Of several merged projects, each has strata of its own.
    """

    metric: str
    """Name of the metric whose interval was to be narrow enough."""
    precision: Annotated[float, Meta(gt=0, lt=1)]
    """Half the width that the interval of that metric was to have at most."""
    expecting: bool = False
    """Whether an earlier run told how sessions were expected to go: then few are otherwise than their stratum."""
    strata: tuple[Stratum, ...]
    """A session's `stratum` is a place in here, from 1."""

    def check(self) -> None:
        """Raises ValueError where its numbers contradict each other."""
        if any(each.asked > each.sessions for each in self.strata):
            raise ValueError("more sessions of a stratum were asked than it has")
        if any(each.share + each.later > 1 + 1e-6 for each in self.strata):
            raise ValueError("the shares of the sample's phases are more than 1 in sum")
