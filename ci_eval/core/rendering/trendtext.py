"""A trend in words: the last figures, and where the level changed."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from ci_eval.core.model import Overview, Trend
from ci_eval.core.rendering.figures import amount, change
from ci_eval.core.rendering.ladder import label
from ci_eval.core.rendering.markdowntext import prose


def trend_lines(trend: Trend) -> Iterator[str]:
    """Yield the trend as paragraphs of Markdown."""
    count = len(trend.nights)
    if count < 2:
        yield "The first evaluation of its kind: a trend needs two."
        return
    first, last = trend.nights[0], trend.nights[-1]
    of = prose(label(trend.headline))
    yield f"Trend of {of} over {count} evaluations, {prose(first.started[:10])} to {prose(last.started[:10])}:"
    changes = list(change_lines(trend, prose))
    yield "\n".join(f"- {line}" for line in changes) or "No figure changed its level."


def name_trends(overview: Overview) -> list[str]:
    """Return a name for each trend of a ranking; if several have the same one, those of the workspaces."""
    if overview.ranking is None:
        return []
    sides = overview.ranking.sides[: len(overview.trends)]
    names = [f"{side.engine.name}, {side.completion_type}" for side in sides]
    return names if len(set(names)) == len(names) else [side.workspace for side in sides]


def change_lines(trend: Trend, shown: Callable[[str], str] = str) -> Iterator[str]:
    """Yield one sentence for each change of level, the latest first; `shown` makes foreign text safe."""
    points = [(point.night, info, point) for info in trend.metrics for point in trend.changes.get(info.name, ())]
    for night, info, point in sorted(points, key=lambda entry: (-entry[0], entry[1].name)):
        sign = "" if point.good is None else "▲ " if point.good else "▼ "
        why = f" ({'; '.join(map(shown, trend.nights[night].differs))})" if trend.nights[night].differs else ""
        yield (
            f"{sign}{info.name} {amount(point.before, info.unit)} → {amount(point.after, info.unit)} "
            f"({change(point.after - point.before, info.unit)}) from {shown(trend.nights[night].started[:10])} on{why}"
        )
