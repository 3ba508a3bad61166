"""A trend drawn so small that it fits into a line of a table."""

from __future__ import annotations

from dataclasses import dataclass

from ci_eval.core.model import MetricInfo, Trend
from ci_eval.core.model.units import amount

WIDTH, HEIGHT, MARGIN = 120, 28, 3


@dataclass(frozen=True)
class Sparkline:
    """A polyline in a box of WIDTH by HEIGHT; `summary` describes it in words."""

    points: tuple[tuple[float, float], ...]
    summary: str


def sparkline(trend: Trend, info: MetricInfo) -> Sparkline | None:
    """Return the sparkline of a metric over all nights that have it; None if fewer than two have."""
    known = [
        (place, figure.value, figure)
        for place, night in enumerate(trend.nights)
        for figure in [night.metrics.get(info.name)]
        if figure and figure.value is not None
    ]
    if len(known) < 2:
        return None
    values = [value for _, value, _ in known]
    # A change within the newest interval (for other code, if there is one) is small, and must not look large.
    newest = known[-1][2]
    ends = (newest.low, newest.high, newest.elsewhere.low, newest.elsewhere.high)
    among = [*values, *(end for end in ends if end is not None)]
    low, high = min(among), max(among)
    across = (WIDTH - 2 * MARGIN) / (len(trend.nights) - 1)

    def up(value: float) -> float:
        share = (value - low) / (high - low) if high > low else 0.5
        return round(HEIGHT - MARGIN - share * (HEIGHT - 2 * MARGIN), 1)

    return Sparkline(
        points=tuple((round(MARGIN + place * across, 1), up(value)) for place, value, _ in known),
        summary=f"{info.name} over {len(known)} nights, "
        f"between {amount(min(values), info.unit)} and {amount(max(values), info.unit)}",
    )
