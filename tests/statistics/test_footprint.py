"""Start-up and memory of several workers, and as figures."""

from __future__ import annotations

from ci_eval.core.model import Footprint
from ci_eval.core.statistics.footprint import figures, merge_footprints


def test_of_what_is_not_there_nothing_is_known() -> None:
    assert figures(Footprint()) == {}


def test_of_several_workers_all_starts_count_and_the_largest_memory() -> None:
    merged = merge_footprints(
        [Footprint(start_ups=(5.0,), memory=2, weighed=1), Footprint(), Footprint(start_ups=(1.0, 3.0))]
    )
    assert merged == Footprint(start_ups=(1.0, 3.0, 5.0), memory=2, weighed=1)
    known = figures(merged)
    assert (known["StartUpLatency"].value, known["StartUpLatency"].n) == (3.0, 3)
    assert known["PeakMemory"].low is None


def test_of_all_starts_the_median_of_cpu_is_known() -> None:
    known = figures(merge_footprints([Footprint(start_cpus=(50.0,)), Footprint(), Footprint(start_cpus=(10.0, 30.0))]))
    assert (known["StartCpu"].value, known["StartCpu"].n) == (30.0, 3)


def test_of_very_many_starts_some_are_kept_from_the_fastest_to_the_slowest() -> None:
    merged = merge_footprints([Footprint(start_ups=tuple(map(float, range(1001)))), Footprint(start_ups=(2000.0,))])
    assert (len(merged.start_ups), merged.start_ups[0], merged.start_ups[-1]) == (1000, 0.0, 2000.0)
