"""The start-up times and the memory of engines: merged over several workers, and as figures."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from statistics import median

from ci_eval.core.model import Determinism, Estimate, Footprint, MetricInfo
from ci_eval.core.model.footprint import MOST_STARTS

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
INFOS: Mapping[str, MetricInfo] = {info.name: info for info in (START_UP, MEMORY)}
"""The figures of a whole run, which do not come from its sessions."""


def together(parts: Iterable[Footprint]) -> Footprint:
    """Merge the footprints of several workers, runs or machines."""
    footprints = list(parts)
    starts = sorted(start_up for footprint in footprints for start_up in footprint.start_ups)
    if len(starts) > MOST_STARTS:
        # A footprint stores at most MOST_STARTS: the ones left are spread evenly over all in order of time.
        starts = [starts[place * (len(starts) - 1) // (MOST_STARTS - 1)] for place in range(MOST_STARTS)]
    return Footprint(
        start_ups=tuple(starts),
        waited=round(sum(footprint.waited for footprint in footprints), 3),
        unready=sum(footprint.unready for footprint in footprints),
        dropped=sum(footprint.dropped for footprint in footprints),
        deletion=sum((footprint.deletion for footprint in footprints), Determinism()),
        # The figure is of one engine, so the memory of several workers is not summed.
        memory=max((footprint.memory for footprint in footprints if footprint.memory is not None), default=None),
        weighed=sum(footprint.weighed for footprint in footprints),
        of_worker=any(footprint.of_worker for footprint in footprints),
    )


def figures(of: Footprint) -> dict[str, Estimate]:
    """Return the known figures by name. They have no interval, since they describe one machine."""
    estimates = {}
    if of.start_ups:
        estimates[START_UP.name] = Estimate(value=median(of.start_ups), n=len(of.start_ups))
    if of.memory is not None:
        estimates[MEMORY.name] = Estimate(value=of.memory / 1e6, n=of.weighed)
    return estimates
