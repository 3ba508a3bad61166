"""Charts as coordinates; templates draw them as inline SVG."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from ci_eval.model import ChangePoint, Estimate, MetricInfo, Trend, TrendPoint
from ci_eval.rendering.figures import amount, change, interval

WIDTH, HEIGHT = 640, 150
LEFT, RIGHT, TOP, BOTTOM = 66, 14, 22, 24


@dataclass(frozen=True)
class Dot:
    """One figure in a chart; `label` is what a person reads when pointing at it."""

    x: float
    y: float
    label: str


@dataclass(frozen=True)
class ChartMark:
    """A vertical mark: from here on, something is different."""

    x: float
    sign: str
    tone: str
    label: str


@dataclass(frozen=True)
class Chart:
    """One figure over time, or several lines over one axis."""

    title: str
    summary: str
    lines: tuple[tuple[Dot, ...], ...]
    band: str = ""
    """Points of the polygon that the intervals fill; "" without intervals."""
    marks: tuple[ChartMark, ...] = ()
    versions: tuple[tuple[float, str], ...] = ()
    """Where the engine's version changes: x coordinate, and the new version."""
    ticks: tuple[tuple[float, str], ...] = ()
    """The scale's values: y coordinate and text."""
    names: tuple[tuple[float, str, str], ...] = ()
    """The texts below the axis: x coordinate, anchor, text."""


def trend_charts(trend: Trend, wanted: Sequence[str]) -> list[Chart]:
    """One chart for each wanted metric that has figures on at least two nights."""
    infos = {info.name: info for info in trend.metrics}
    if len(trend.nights) < 2:
        return []
    return [chart for name in wanted if name in infos for chart in _trend_chart(trend, infos[name])]


def _trend_chart(trend: Trend, info: MetricInfo) -> list[Chart]:
    found = [(place, night, night.metrics.get(info.name)) for place, night in enumerate(trend.nights)]
    known = [(place, night, each) for place, night, each in found if each and each.value is not None]
    if len(known) < 2:
        return []
    values = [each.value or 0.0 for _, _, each in known]
    lows = [value if each.low is None else each.low for value, (_, _, each) in zip(values, known, strict=True)]
    highs = [value if each.high is None else each.high for value, (_, _, each) in zip(values, known, strict=True)]
    x, y = across(len(trend.nights)), Up(min(lows), max(highs))
    dots = [
        Dot(x(place), y(value), _dot_label(night, each, info.unit))
        for value, (place, night, each) in zip(values, known, strict=True)
    ]
    edges = [(x(place), y(high)) for (place, _, _), high in zip(known, highs, strict=True)]
    edges += [(x(place), y(low)) for (place, _, _), low in reversed(list(zip(known, lows, strict=True)))]
    marks = tuple(_mark(each, trend, info.unit, x) for each in trend.changes[info.name])
    first, last = trend.nights[known[0][0]], trend.nights[known[-1][0]]
    return [
        Chart(
            title=info.name,
            summary=f"{info.name} over {len(known)} evaluations: {amount(known[0][2].value, info.unit)} on "
            f"{first.started[:10]}, {amount(known[-1][2].value, info.unit)} on {last.started[:10]}, "
            f"{len(marks)} changes of level",
            lines=(tuple(dots),),
            band=" ".join(f"{a:.1f},{b:.1f}" for a, b in edges),
            marks=marks,
            versions=tuple(
                (x(place), f"{now.engine.name} {now.engine.version} from {now.started[:10]} on")
                for place, (was, now) in enumerate(pairwise(trend.nights), 1)
                if was.engine.version != now.engine.version
            ),
            ticks=tuple((y(value), amount(value, info.unit)) for value in scale_of(y)),
            names=((x(0), "start", first.started[:10]), (x(len(trend.nights) - 1), "end", last.started[:10])),
        )
    ]


def _dot_label(night: TrendPoint, figure: Estimate, unit: str) -> str:
    between = interval(figure, unit)
    return (
        f"{night.started[:16].replace('T', ' ')}: {amount(figure.value, unit)}"
        + (f" ({between})" if between else "")
        + f", {night.engine.name} {night.engine.version}, {night.sessions:,} sessions"
        + "".join(f"; {each}" for each in night.differs)
    )


def _mark(found: ChangePoint, trend: Trend, unit: str, x: Callable[[int], float]) -> ChartMark:
    """A change of level, between the two nights around it."""
    return ChartMark(
        (x(found.night) + x(found.night - 1)) / 2,
        "·" if found.good is None else "▲" if found.good else "▼",
        "" if found.good is None else "better" if found.good else "worse",
        f"{amount(found.before, unit)} → {amount(found.after, unit)} from {trend.nights[found.night].started[:10]} on "
        f"({change(found.after - found.before, unit)}, p = {found.p:.3f})",
    )


def latency_chart(latencies: dict[str, tuple[float, float]]) -> Chart | None:
    """How the latencies of base and new are distributed: which share of the lookups took at most how long. The scale is
    logarithmic."""
    if len(latencies) < 2:
        return None
    times = [math.log10(value) for sides in latencies.values() for value in sides]
    x, y = across(len(latencies)), Up(min(times), max(times))
    lines = tuple(
        tuple(
            Dot(x(place), y(math.log10(sides[side])), f"{name}: {share} took at most {amount(sides[side], 'ms')}")
            for place, (share, sides) in enumerate(latencies.items())
        )
        for side, name in enumerate(("base", "new"))
    )
    return Chart(
        title="Latency",
        summary="share of the lookups, and the time they took at most, base and new; the table has the figures",
        lines=lines,
        ticks=tuple((y(value), amount(10**value, "ms")) for value in scale_of(y)),
        names=tuple((x(place), "middle", share) for place, share in enumerate(latencies)),
    )


@dataclass(frozen=True)
class Up:
    """Maps values to y coordinates, so that they fill the chart."""

    low: float
    high: float

    def __call__(self, value: float) -> float:
        span = self.high - self.low
        share = (value - self.low) / span if span else 0.5
        return round(HEIGHT - BOTTOM - share * (HEIGHT - TOP - BOTTOM), 1)


def scale_of(up: Up) -> list[float]:
    """The values that are written beside the chart."""
    return [up.low, (up.low + up.high) / 2, up.high] if up.high > up.low else [up.low]


def across(count: int) -> Callable[[int], float]:
    """Maps places, of which there are so many, to x coordinates."""
    step = (WIDTH - LEFT - RIGHT) / max(count - 1, 1)
    return lambda place: round(LEFT + place * step, 1)
