"""Trends of a single figure, a night after the other."""

from __future__ import annotations

from collections.abc import Sequence

from ci_eval.core.model import ChangePoint, EngineInfo, Estimate, MetricInfo, ProjectInfo, Trend, TrendPoint

INFO = MetricInfo(name="Recall", summary="", unit="share", better="higher")


def trend_of(values: Sequence[float | None], around: float = 0.0, changes: tuple[ChangePoint, ...] = ()) -> Trend:
    """A night for each value, from the first of January on; `around`: half the width of the intervals."""
    nights = tuple(
        TrendPoint(
            started=f"2026-01-{day:02}",
            title="",
            engine=EngineInfo(name="e", version="1" if day < 3 else "2"),
            project=ProjectInfo(spec="", name="p", revision="", checksum=""),
            sessions=1,
            metrics={} if value is None else {"Recall": Estimate(value=value, low=value - around, high=value + around)},
        )
        for day, value in enumerate(values, 1)
    )
    return Trend(nights=nights, metrics=(INFO,), changes={"Recall": changes})
