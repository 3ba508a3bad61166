"""Merge the start-up times and the memory of engines over workers, and compute figures."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from statistics import median

from ci_eval.core.model import MOST_STARTS, Estimate, Footprint, MetricInfo

START_UP, START_CPU, MEMORY = "StartUpLatency", "StartCpu", "PeakMemory"
INFOS: Mapping[str, MetricInfo] = {
    name: MetricInfo(name=name, summary=summary, unit=unit, better="lower")
    for name, unit, summary in (
        (START_UP, "ms", "time from an engine's start to its first answer, the median over its starts"),
        (
            START_CPU,
            "ms",
            "CPU time of the engine's processes from a start to its first answer, the median over its starts",
        ),
        (MEMORY, "MB", "the most memory that was resident in one engine's processes; n: how often memory was read"),
    )
}


def merge_footprints(parts: Iterable[Footprint]) -> Footprint:
    footprints, counts = list(parts), ("unready", "dropped", "unresolved", "weighed")
    return Footprint(
        **{name: sum(getattr(part, name) for part in footprints) for name in counts},
        start_ups=_sort_starts(start for part in footprints for start in part.start_ups),
        start_cpus=_sort_starts(start for part in footprints for start in part.start_cpus),
        waited=round(sum(part.waited for part in footprints), 3),
        # The figure is the memory of one engine, so the memory of several workers is not summed.
        memory=max((part.memory for part in footprints if part.memory is not None), default=None),
        of_worker=any(part.of_worker for part in footprints),
    )


def _sort_starts(times: Iterable[float]) -> tuple[float, ...]:
    starts = sorted(times)
    if len(starts) > MOST_STARTS:
        # A footprint stores at most MOST_STARTS times, which are spread evenly over all of them.
        starts = [starts[place * (len(starts) - 1) // (MOST_STARTS - 1)] for place in range(MOST_STARTS)]
    return tuple(starts)


def figures(of: Footprint) -> dict[str, Estimate]:
    """Return the known figures by name. They have no intervals, since they describe one machine."""
    times = {START_UP: of.start_ups, START_CPU: of.start_cpus}
    estimates = {name: Estimate(value=median(starts), n=len(starts)) for name, starts in times.items() if starts}
    return estimates | ({} if of.memory is None else {MEMORY: Estimate(value=of.memory / 1e6, n=of.weighed)})
