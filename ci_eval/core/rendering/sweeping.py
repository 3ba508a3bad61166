"""A sweep as rows and charts."""

from __future__ import annotations

from ci_eval.core.model import Estimate, MetricInfo, Sweep, SweptRun
from ci_eval.core.rendering.charts import Chart, Dot, Up, across, scale_values
from ci_eval.core.rendering.figures import amount, change, format_count, interval
from ci_eval.core.rendering.verdicts import interval_text, said

FEW = 10
"""The most runs that all have their names below the axis."""


def name_run(run: SweptRun) -> str:
    """Return the values of a run as its name."""
    return ", ".join(run.values)


def figure_texts(run: SweptRun, info: MetricInfo) -> tuple[str, str]:
    """Return a metric's figure, and its interval; "" if it has none."""
    figure = run.figures.get(info.name)
    return ("—", "") if figure is None else (amount(figure.value, info.unit), interval(figure, info.unit))


def difference_texts(run: SweptRun, info: MetricInfo) -> tuple[str, str]:
    """Return how far a run is from the first run, with the verdict, and the interval of that; "" for both if there is
    no difference."""
    difference = run.differences.get(info.name)
    if difference is None:
        return "", ""
    return f"{said(difference.verdict)} {change(difference.difference, info.unit)}", interval_text(
        difference, info.unit
    )


def together(texts: tuple[str, str]) -> str:
    """Return both texts in one, the interval in parentheses."""
    return f"{texts[0]} ({texts[1]})" if texts[1] else texts[0]


def held_out_text(sweep: Sweep) -> str:
    """Return a sentence about the best run in files that did not choose it, or "" if none were held out."""
    held = sweep.held_out
    if held is None:
        return ""
    winner, first = sweep.runs[held.winner], sweep.runs[0]
    infos = {info.name: info for info in sweep.metrics}
    best = f"{held.metric} is best for {name_run(winner)} in {format_count(held.choosing_files, 'file')}"
    best += f" ({amount(held.choosing[held.winner], infos[held.metric].unit)})"
    figures = [_held_out_figure(held.figures[name], info) for name, info in infos.items() if name in held.figures]
    others = f"{format_count(held.files, 'file')} that did not choose ({held.sessions:,} sessions)"
    text = f"{best}. In {others}: {', '.join(figures)}"
    if held.winner:
        figures = [_held_out_figure(held.first[name], info) for name, info in infos.items() if name in held.first]
        text += f"; there, the first run ({name_run(first)}) has {', '.join(figures)}"
    return f"{text}. Quote these figures: those over all files favour the run that was picked"


def _held_out_figure(figure: Estimate, info: MetricInfo) -> str:
    return f"{info.name} {together((amount(figure.value, info.unit), interval(figure, info.unit)))}"


def sweep_charts(sweep: Sweep) -> list[Chart]:
    """Return a chart for each metric, over the runs in their order. Metrics with figures of fewer than two runs are
    left out."""
    return [chart for info in sweep.metrics for chart in _chart(sweep, info)]


def _chart(sweep: Sweep, info: MetricInfo) -> list[Chart]:
    figures = [(place, run, run.figures.get(info.name)) for place, run in enumerate(sweep.runs)]
    known = [
        (place, run, figure, figure.value) for place, run, figure in figures if figure and figure.value is not None
    ]
    if len(known) < 2:
        return []
    lows = [value if figure.low is None else figure.low for _, _, figure, value in known]
    highs = [value if figure.high is None else figure.high for _, _, figure, value in known]
    x, y = across(len(sweep.runs)), Up(min(lows), max(highs))
    edges = [(x(place), y(high)) for (place, *_), high in zip(known, highs, strict=True)]
    edges += [(x(place), y(low)) for (place, *_), low in reversed(list(zip(known, lows, strict=True)))]
    last = len(sweep.runs) - 1
    named = [entry for entry in enumerate(sweep.runs) if last < FEW or entry[0] in {0, last}]
    return [
        Chart(
            title=info.name,
            summary=f"{info.name} of {len(known)} runs; the table has the figures",
            lines=(
                tuple(
                    Dot(x(place), y(value), f"{name_run(run)}: {together(figure_texts(run, info))}")
                    for place, run, _, value in known
                ),
            ),
            band=" ".join(f"{a:.1f},{b:.1f}" for a, b in edges),
            ticks=tuple((y(value), amount(value, info.unit)) for value in scale_values(y)),
            names=tuple(
                (x(place), "start" if place == 0 else "end" if place == last else "middle", name_run(run)[:16])
                for place, run in named
            ),
        )
    ]
