"""The first page of the HTML report, as values: cards, metrics with the bars of their intervals, ranks, kinds,
files."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from ci_eval.core.contracts import Task
from ci_eval.core.model import Estimate, Evaluation, FilterFigures, MetricInfo, OtherCode
from ci_eval.core.model.units import amount, interval
from ci_eval.core.rendering.figures import (
    FAILURES,
    OUTCOMES,
    client_name,
    describe_session_counts,
    failures,
    headline,
    intervals,
    judged_of_code,
    metric_infos,
    sessions_by_kind,
    statuses,
)
from ci_eval.core.rendering.verdicts import populations

MAX_ERRORS = 200
MAX_TRACE = 4_000
MAX_CELLS = 60_000
MAX_ROWS = 10_000

BETTER = {"higher": "higher is better", "lower": "lower is better"}


@dataclass(frozen=True)
class Bar:
    """A figure and its interval on a scale from 0 to 100."""

    low: float
    width: float
    at: float
    end: str
    """The value at the right end of the scale; at the left one it is 0."""
    beyond: tuple[float, float] | None = None
    """The begin and width of the interval for other code."""


Row = dict[str, object]
"""The values of a row, or of the whole page, as the template names them."""


def index(evaluation: Evaluation, task: Task, figures: FilterFigures, links: Mapping[str, str]) -> Row:
    """Return the page for `figures`; `links` are the file pages by path."""
    infos = metric_infos(evaluation, figures)
    shown = headline(infos)
    rows = {info.name: _row(info, figures, _scale(info, infos, figures)) for info in infos}
    # All metrics but counts, or only the headline ones if the page would become too large.
    columns = [info for info in infos if info.unit != "count"]
    if len(columns) * (len(figures.files) + len(figures.folders)) > MAX_CELLS:
        columns = shown
    files = []
    # A folder comes before what is in it.
    for path in sorted({*figures.files, *figures.folders, *links}):
        of_file = figures.files.get(path) or figures.folders.get(path)
        metrics = of_file.metrics if of_file else {}
        cells = [amount(metrics.get(info.name), info.unit) for info in columns]
        sessions = f"{of_file.sessions if of_file else 0:,}"
        files.append({"path": path, "link": links.get(path, ""), "sessions": sessions, "cells": cells})
    here, elsewhere = populations(evaluation)
    return {
        "client": client_name(evaluation),
        "evaluated": describe_session_counts(figures),
        "here": here,
        "elsewhere": elsewhere,
        "judged_of_code": judged_of_code(figures),
        "undecided": figures.undecided,
        "statuses": [
            {"name": name, "count": f"{count:,}", "meaning": OUTCOMES.get(name, "")}
            for name, count in statuses(figures.statuses)
        ],
        "cards": [rows[info.name] for info in shown],
        "quality": [rows[info.name] for info in infos if not info.is_time],
        "latency": [rows[info.name] for info in infos if info.is_time],
        "bands": _bands(task, figures),
        "kind_columns": [info.name for info in shown],
        "kinds": _kinds(figures.kinds, shown),
        "columns": [
            {
                "name": info.name,
                "summary": " · ".join(filter(None, (info.summary, BETTER.get(info.better)))),
                "better": info.better,
                "shown": info in shown,
            }
            for info in columns
        ],
        "files": files[:MAX_ROWS],
        "files_left_out": max(0, len(files) - MAX_ROWS),
        "errors": [
            {
                "path": error.path,
                "stage": error.stage,
                "message": error.message[:MAX_TRACE],
                "sessions": f"{error.sessions:,}",
                "trace": error.trace if len(error.trace) <= MAX_TRACE else f"{error.trace[:MAX_TRACE]}\n…",
            }
            for error in evaluation.errors[:MAX_ERRORS]
        ],
        "errors_left_out": max(0, len(evaluation.errors) - MAX_ERRORS),
    }


def _row(info: MetricInfo, figures: FilterFigures, scale: float) -> Row:
    estimate = figures.metrics[info.name]
    return {
        "name": info.name,
        "value": amount(estimate.value, info.unit),
        "interval": interval(estimate, info.unit),
        "elsewhere": interval(estimate.elsewhere, info.unit),
        "bar": _bar(estimate, scale, info.unit) if info.unit != "count" else None,
        "by_file": amount(figures.by_file.get(info.name), info.unit),
        "n": f"{estimate.n:,}",
        "summary": info.summary,
        "better": BETTER.get(info.better, ""),
    }


def _scale(info: MetricInfo, infos: Iterable[MetricInfo], figures: FilterFigures) -> float:
    """Return the value at the right end of a bar: 1 for shares, else a little more than the largest figure of that
    unit."""
    if info.unit in {"share", "score"}:
        return 1.0
    # Bars of one unit share a scale, so that people can compare them.
    alike = (figures.metrics[peer.name] for peer in infos if peer.unit == info.unit)
    ends = (end or 0.0 for estimate in alike for end in (estimate.value, estimate.high, estimate.elsewhere.high))
    return 1.1 * max(ends, default=0.0)


def _bar(estimate: Estimate, scale: float, unit: str) -> Bar | None:
    if estimate.value is None or not scale > 0:
        return None

    # An end that the interval lacks is at the figure.
    def place(value: float | None) -> float:
        return round(min(100.0, max(0.0, 100 * (estimate.value or 0 if value is None else value) / scale)), 1)

    def begin_and_width(of: Estimate | OtherCode) -> tuple[float, float]:
        return place(of.low), round(place(of.high) - place(of.low), 1)

    beyond = None if estimate.elsewhere.low is None else begin_and_width(estimate.elsewhere)
    end = {"share": f"{scale:.0%}", "ms": f"{scale:,.0f} ms"}.get(unit, f"{scale:.3g}")
    return Bar(*begin_and_width(estimate), place(estimate.value), end, beyond)


def _bands(task: Task, figures: FilterFigures) -> list[Row]:
    """Return a row for each band of the task. If the engine failed, a last row has the number of failed sessions among
    them."""
    counts, failed = figures.ranks, failures(figures.statuses)
    total, most = sum(counts.values()), max(counts.values(), default=0)
    # The page of all sessions shows those of a band by the name and the value of a filter.
    rows: list[tuple[tuple[str, str], str, str, int]] = [
        (("band", band.name), band.label or band.name, band.outcome, counts[band.name])
        for band in task.bands
        if band.name in counts
    ]
    if failed:
        rows.append((("status", ",".join(FAILURES)), "of these, failed", "failed", failed))
    return [
        {
            "key": key,
            "label": label,
            "outcome": outcome,
            "count": f"{count:,}",
            "share": amount(count / total if total else None, "share"),
            "width": round(100 * count / most, 2) if most else 0,
        }
        for key, label, outcome, count in rows
    ]


def _kinds(kinds: Mapping[str, Mapping[str, Estimate]], infos: Sequence[MetricInfo]) -> list[Row]:
    rows: list[Row] = []
    for kind, sessions in sessions_by_kind(kinds).items():
        figures = [(kinds[kind].get(info.name, Estimate(value=None)), info.unit) for info in infos]
        cells = [(amount(figure.value, unit), intervals(figure, unit)) for figure, unit in figures]
        rows.append(
            {"kind": kind, "label": kind.lower().replace("_", " "), "sessions": f"{sessions:,}", "cells": cells}
        )
    return rows
