"""Compute the coordinates of charts. Templates draw the charts as inline SVG."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from datetime import datetime, timezone
from functools import partial
from itertools import pairwise

import msgspec
from msgspec.structs import replace

from ci_eval.core import machine
from ci_eval.core.model import Estimate, MetricInfo, Sweep, Trend, TrendPoint
from ci_eval.core.model.units import amount, change, interval

WIDTH, HEIGHT = 640, 156
LEFT, RIGHT, TOP, BOTTOM = 66, 14, 22, 32
APART = 140
DAY = 24 * 60 * 60
FEW = 10


class Dot(msgspec.Struct, frozen=True):
    x: float
    y: float
    label: str


class ChartMark(msgspec.Struct, frozen=True):
    x: float
    sign: str
    tone: str
    label: str


class Chart(msgspec.Struct, frozen=True):
    title: str
    summary: str
    lines: tuple[tuple[Dot, ...], ...]
    band: str = ""
    marks: tuple[ChartMark, ...] = ()
    versions: tuple[tuple[float, str, str], ...] = ()
    """The x coordinate, the version ("" if it does not fit) and the tooltip, for each new version."""
    ticks: tuple[tuple[float, str], ...] = ()
    names: tuple[tuple[float, str, str], ...] = ()


def trend_charts(trend: Trend, metrics: Sequence[str]) -> list[Chart]:
    infos = {info.name: info for info in trend.metrics}
    if len(trend.nights) < 2:
        return []
    x, charts = over_time(trend.nights), list[Chart]()
    fixed = {"versions": _versions(trend.nights, x), "names": _dates(trend.nights)}

    def say(place: int, figure: Estimate, unit: str) -> str:
        return _dot_label(trend.nights[place], figure, unit)

    for info in (infos[name] for name in metrics if name in infos):
        marks = tuple(
            ChartMark(
                (x(point.night) + x(point.night - 1)) / 2,
                "·" if point.good is None else "▲" if point.good else "▼",
                "" if point.good is None else "better" if point.good else "worse",
                f"{amount(point.before, info.unit)} → {amount(point.after, info.unit)} from "
                f"{trend.nights[point.night].started[:10]} on ({change(point.after - point.before, info.unit)}, "
                f"p = {point.p:.3f})",
            )
            for point in trend.changes[info.name]
        )
        figures = [night.metrics.get(info.name) for night in trend.nights]
        if drawn := _draw(figures, info, x, partial(say, unit=info.unit)):
            known = _known(figures)
            ends = [(trend.nights[place].started[:10], value) for place, _, value in (known[0], known[-1])]
            texts = [f"{amount(value, info.unit)} on {date}" for date, value in ends]
            summary = f"{info.name} over {len(known)} evaluations: {', '.join(texts)}, {len(marks)} changes of level"
            charts.append(replace(drawn, summary=summary, marks=marks, **fixed))
    return charts


def _known(figures: Iterable[Estimate | None]) -> list[tuple[int, Estimate, float]]:
    """Return the figures that have a value, each with its place and its value."""
    return [(place, of, of.value) for place, of in enumerate(figures) if of and of.value is not None]


def _draw(
    figures: Sequence[Estimate | None], info: MetricInfo, x: Callable[[int], float], say: Callable[[int, Estimate], str]
) -> Chart | None:
    """Return a chart with a band for the intervals; None for fewer than two figures. `say` returns a dot's tooltip."""
    known = _known(figures)
    if len(known) < 2:
        return None
    lows = [value if figure.low is None else figure.low for _, figure, value in known]
    highs = [value if figure.high is None else figure.high for _, figure, value in known]
    values = [value for _, _, value in known]
    # A stored figure may lie outside its own interval, since it may have been computed in another way.
    y = Up(min(*lows, *values), max(*highs, *values))
    # The polygon of the band runs along the upper ends, then back along the lower ends.
    edges = [(x(place), y(high)) for (place, _, _), high in zip(known, highs, strict=True)]
    edges += [(x(place), y(low)) for (place, _, _), low in reversed(list(zip(known, lows, strict=True)))]
    return Chart(
        title=info.name,
        summary=f"{info.name} of {len(known)} runs; the table has the figures",
        lines=(tuple(Dot(x(place), y(value), say(place, figure)) for place, figure, value in known),),
        band=" ".join(f"{a:.1f},{b:.1f}" for a, b in edges),
        ticks=y.ticks(info.unit),
    )


def sweep_charts(sweep: Sweep) -> list[Chart]:
    """Return the charts of a sweep over one number. Names or several keys have no chart, since a line would suggest
    values between them."""
    titles, last = [run.values[0] for run in sweep.runs], len(sweep.runs) - 1
    try:
        if len(sweep.keys) > 1 or not all(math.isfinite(float(title)) for title in titles):
            return []
    except ValueError:
        return []
    x = across(len(titles))
    names = tuple(
        (x(place), "middle" if 0 < place < last else "end" if place else "start", title[:16])
        for place, title in enumerate(titles)
        if last < FEW or place in {0, last}
    )

    def say(place: int, figure: Estimate, unit: str) -> str:
        between = interval(figure, unit)
        return f"{titles[place]}: {amount(figure.value, unit)}{f' ({between})' if between else ''}"

    charts = [
        _draw([run.figures.get(info.name) for run in sweep.runs], info, x, partial(say, unit=info.unit))
        for info in sweep.metrics
    ]
    return [replace(chart, names=names) for chart in charts if chart]


def ranking_charts(trends: Sequence[Trend], names: Sequence[str], metrics: Sequence[str]) -> list[Chart]:
    """Return the charts; none if there is only one night. `names` are the names of the lines."""
    by_start = {night.started: night for trend in trends for night in trend.nights}
    nights = sorted(by_start.values(), key=lambda night: machine.seconds(night.started))
    # The evaluations of one night have different starts, so the nights of each trend are counted instead.
    if max((len(trend.nights) for trend in trends), default=0) < 2:
        return []
    x = over_time(nights)
    places = {night.started: x(place) for place, night in enumerate(nights)}
    infos = {info.name: info for trend in trends for info in trend.metrics}
    charts = []
    for info in (infos[name] for name in metrics if name in infos):
        known = [
            [
                (trend.nights[place], figure, value)
                for place, figure, value in _known(night.metrics.get(info.name) for night in trend.nights)
            ]
            for trend in trends
        ]
        values = [value for line in known for _, _, value in line]
        if not values:
            continue
        y = Up(min(values), max(values))
        lines = tuple(
            tuple(
                Dot(places[night.started], y(value), f"{name}, {_dot_label(night, figure, info.unit)}")
                for night, figure, value in line
            )
            for name, line in zip(names, known, strict=True)
        )
        summaries = [
            f"{name}: {amount(line[-1][2], info.unit)} after {len(line)} evaluations"
            for name, line in zip(names, known, strict=True)
            if line
        ]
        ticks, summary = y.ticks(info.unit), "; ".join(summaries)
        charts.append(Chart(title=info.name, summary=summary, lines=lines, ticks=ticks, names=_dates(nights)))
    return charts


def over_time(nights: Sequence[TrendPoint]) -> Callable[[int], float]:
    """Return a function from a night's index to x: by time, or at equal distances if times are unknown."""
    times = _times(nights)
    if not times:
        return across(len(nights))
    return lambda place: round(LEFT + (times[place] - times[0]) / (times[-1] - times[0]) * (WIDTH - LEFT - RIGHT), 1)


def _times(nights: Sequence[TrendPoint]) -> list[float]:
    """Return the starts in seconds; [] if a start is not a time, or if the starts are unordered or all equal."""
    times = [machine.seconds(night.started) for night in nights]
    return times if times[-1] > times[0] > -math.inf and times == sorted(times) else []


def _dates(nights: Sequence[TrendPoint]) -> tuple[tuple[float, str, str], ...]:
    """Return the labels of the time axis: the first and last date and, if they are days apart, dates between them."""
    times = _times(nights)
    room = WIDTH - LEFT - RIGHT
    if not times:
        return ((LEFT, "start", nights[0].started[:10]), (WIDTH - RIGHT, "end", nights[-1].started[:10]))
    begin, span = times[0], times[-1] - times[0]
    # With more steps than days, dates would repeat.
    steps = max(1, min(room // APART, int(span // DAY)))
    dates = [
        datetime.fromtimestamp(begin + step * span / steps, timezone.utc).date().isoformat() for step in range(1, steps)
    ]
    return tuple(
        (round(LEFT + step * room / steps, 1), "middle" if 0 < step < steps else "end" if step else "start", date)
        for step, date in enumerate([nights[0].started[:10], *dates, nights[-1].started[:10]])
    )


def _versions(nights: Sequence[TrendPoint], x: Callable[[int], float]) -> tuple[tuple[float, str, str], ...]:
    versions: list[tuple[float, str, str]] = []
    free = 0.0
    for place, (was, now) in enumerate(pairwise(nights), 1):
        if was.engine.version != now.engine.version:
            at, version = x(place), now.engine.version
            # Near the right end, a label would extend beyond the chart.
            has_room = at >= free and at < WIDTH - APART
            about = f"{now.engine.name} {version} from {now.started[:10]} on"
            versions.append((at, version[:14] if has_room else "", about))
            free = at + APART if has_room else free
    return tuple(versions)


def _dot_label(night: TrendPoint, figure: Estimate, unit: str) -> str:
    between = interval(figure, unit)
    return (
        f"{night.started[:16].replace('T', ' ')}: {amount(figure.value, unit)}"
        + (f" ({between})" if between else "")
        + f", {night.engine.name} {night.engine.version}, {night.sessions:,} sessions"
        + "".join(f"; {difference}" for difference in night.differs)
    )


class Up(msgspec.Struct, frozen=True):
    low: float
    high: float

    def __call__(self, value: float) -> float:
        span = self.high - self.low
        # If all values are equal, they are drawn in the middle.
        share = (value - self.low) / span if span else 0.5
        return round(HEIGHT - BOTTOM - share * (HEIGHT - BOTTOM - TOP), 1)

    def ticks(self, unit: str) -> tuple[tuple[float, str], ...]:
        """Return the y coordinate and the text of each tick."""
        values = [self.low, (self.low + self.high) / 2, self.high] if self.high > self.low else [self.low]
        return tuple((self(value), amount(value, unit)) for value in values)


def across(count: int) -> Callable[[int], float]:
    """Return a function from the index of one of `count` points to its x coordinate, at equal distances."""
    step = (WIDTH - LEFT - RIGHT) / max(count - 1, 1)
    return lambda place: round(LEFT + place * step, 1)
