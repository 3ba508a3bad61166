"""The sample of a run that asked only as many sessions as its precision took, and the weight of each session."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta

from ci_eval.core.model.tokens import Number, Value

Share = Annotated[float, Meta(ge=0, le=1)]


class Stratum(Value, frozen=True, kw_only=True):
    """A group of sessions that were expected to go about equally well, of which some were sampled in one phase."""

    phase: Number
    """The number of the phase, from 0."""
    sessions: Number
    """The number of its sessions that had not been asked before that phase."""
    asked: Annotated[int, Meta(ge=1, le=10**9)]
    """The number of these that were sampled."""
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

    After each phase, the sessions asked before it are known, and its strata stand for the others. That is an estimate
    of any total; the figures are a mean of these estimates. If several projects were merged, each has strata of its
    own.
    """

    metric: str
    """The name of the metric whose interval was to be narrow enough."""
    precision: Annotated[float, Meta(gt=0, lt=1)]
    """The most that half the width of that metric's interval was to be."""
    expecting: bool = False
    """True if an earlier run told how sessions were expected to go: then few sessions differ from their stratum."""
    strata: tuple[Stratum, ...]
    """The strata of the sample. A session's `stratum` is a position in this tuple, from 1."""

    def check(self) -> None:
        """Raise ValueError if the numbers of the sample contradict each other."""
        if any(stratum.asked > stratum.sessions for stratum in self.strata):
            raise ValueError("more sessions of a stratum were asked than it has")
        if any(stratum.share + stratum.later > 1 + 1e-6 for stratum in self.strata):
            raise ValueError("the shares of the sample's phases are more than 1 in sum")
