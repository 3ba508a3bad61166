"""How long engines take to start, and how much memory they hold: of several workers, and as figures."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from statistics import median

from ci_eval.model import Estimate, Footprint, MetricInfo
from ci_eval.model.footprint import MOST_STARTS

START_UP = MetricInfo(
    name="StartUpLatency",
    summary="time from an engine's start to its first answer, the median over its starts",
    unit="ms",
    better="lower",
)
MEMORY = MetricInfo(
    name="PeakMemory",
    summary="the most memory that was resident in one engine's processes; n: how often it was looked at",
    unit="MB",
    better="lower",
)
INFOS: Mapping[str, MetricInfo] = {each.name: each for each in (START_UP, MEMORY)}
"""The figures of a whole run, which no session has a part in."""


def together(parts: Iterable[Footprint]) -> Footprint:
    """Of several workers, runs or machines. Where there are more starts than are kept, these are spread evenly over
    all in order of time."""
    given = list(parts)
    starts = sorted(each for part in given for each in part.start_ups)
    if len(starts) > MOST_STARTS:
        starts = [starts[place * (len(starts) - 1) // (MOST_STARTS - 1)] for place in range(MOST_STARTS)]
    return Footprint(
        start_ups=tuple(starts),
        waited=round(sum(part.waited for part in given), 3),
        unready=sum(part.unready for part in given),
        dropped=sum(part.dropped for part in given),
        memory=max((part.memory for part in given if part.memory is not None), default=None),
        weighed=sum(part.weighed for part in given),
        of_worker=any(part.of_worker for part in given),
    )


def figures(of: Footprint) -> dict[str, Estimate]:
    """Name of each figure that is known → the figure, which has no interval: it is one of this machine."""
    found = {}
    if of.start_ups:
        found[START_UP.name] = Estimate(value=median(of.start_ups), n=len(of.start_ups))
    if of.memory is not None:
        found[MEMORY.name] = Estimate(value=of.memory / 1e6, n=of.weighed)
    return found
