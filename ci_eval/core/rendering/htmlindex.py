"""The first page of the HTML report, as values: cards, metrics with the bars of their intervals, ranks, kinds,
files."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from ci_eval.core.contracts import Task
from ci_eval.core.model import Estimate, Evaluation, FileError, FilterFigures, MetricInfo, OtherCode
from ci_eval.core.model.units import amount, interval
from ci_eval.core.rendering.figures import (
    FAILURES,
    OUTCOMES,
    client_name,
    describe_session_counts,
    failures,
    headline,
    intervals,
    metric_infos,
    sessions_by_kind,
    statuses,
)
from ci_eval.core.rendering.verdicts import judged_of_code, populations

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


@dataclass(frozen=True)
class MetricRow:
    """A row of the table of metrics."""

    name: str
    value: str
    interval: str
    elsewhere: str
    bar: Bar | None
    by_file: str
    n: str
    summary: str
    better: str


@dataclass(frozen=True)
class BandRow:
    """The number of sessions in one band of the task, for example with one range of ranks."""

    key: tuple[str, str]
    """The name and the value of the filter by which the page of all sessions shows them."""
    label: str
    outcome: str
    count: str
    share: str
    width: float


@dataclass(frozen=True)
class KindRow:
    """A token kind, with (value, intervals) of each headline metric."""

    kind: str
    label: str
    sessions: str
    cells: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Column:
    """A column of the table of files."""

    name: str
    summary: str
    better: str
    shown: bool


@dataclass(frozen=True)
class FileRow:
    """A file, or a folder, whose path ends in a slash. The link is empty if no page exists."""

    path: str
    link: str
    sessions: str
    cells: tuple[str, ...]


@dataclass(frozen=True)
class ErrorRow:
    """An error that happened with one file."""

    path: str
    stage: str
    message: str
    sessions: str
    trace: str


@dataclass(frozen=True)
class StatusRow:
    """A status with its meaning and the number of sessions that ended with it."""

    name: str
    count: str
    meaning: str


@dataclass(frozen=True)
class Index:
    """The content of the first page for one session filter."""

    client: str
    """The client of the headline; "" = none."""
    evaluated: str
    here: str
    """The sentences about this project (`here`), and about other code (`elsewhere`)."""
    elsewhere: str
    judged_of_code: bool
    undecided: int
    statuses: tuple[StatusRow, ...]
    cards: tuple[MetricRow, ...]
    quality: tuple[MetricRow, ...]
    latency: tuple[MetricRow, ...]
    bands: tuple[BandRow, ...]
    kind_columns: tuple[str, ...]
    kinds: tuple[KindRow, ...]
    columns: tuple[Column, ...]
    files: tuple[FileRow, ...]
    files_left_out: int
    errors: tuple[ErrorRow, ...]
    errors_left_out: int


def index(evaluation: Evaluation, task: Task, figures: FilterFigures, links: Mapping[str, str]) -> Index:
    """Return the page for `figures`; `links` are the file pages by path."""
    infos = metric_infos(evaluation, figures)
    rows = {info.name: _row(info, figures, _scale(info, infos, figures)) for info in infos}
    columns = _columns(infos, len(figures.files) + len(figures.folders))
    files = _files(figures, links, columns)
    here, elsewhere = populations(evaluation)
    return Index(
        client=client_name(evaluation),
        evaluated=describe_session_counts(figures),
        here=here,
        elsewhere=elsewhere,
        judged_of_code=judged_of_code(figures),
        undecided=figures.undecided,
        statuses=tuple(
            StatusRow(name, f"{count:,}", OUTCOMES.get(name, "")) for name, count in statuses(figures.statuses)
        ),
        cards=tuple(rows[info.name] for info in headline(infos)),
        quality=tuple(rows[info.name] for info in infos if not info.is_time),
        latency=tuple(rows[info.name] for info in infos if info.is_time),
        bands=_bands(task, figures),
        kind_columns=tuple(info.name for info in headline(infos)),
        kinds=_kinds(figures.kinds, headline(infos)),
        columns=tuple(_column(info, headline(infos)) for info in columns),
        files=tuple(files[:MAX_ROWS]),
        files_left_out=max(0, len(files) - MAX_ROWS),
        errors=tuple(map(_error, evaluation.errors[:MAX_ERRORS])),
        errors_left_out=max(0, len(evaluation.errors) - MAX_ERRORS),
    )


def _row(info: MetricInfo, figures: FilterFigures, scale: float) -> MetricRow:
    estimate = figures.metrics[info.name]
    return MetricRow(
        name=info.name,
        value=amount(estimate.value, info.unit),
        interval=interval(estimate, info.unit),
        elsewhere=interval(estimate.elsewhere, info.unit),
        bar=_bar(estimate, scale, info.unit) if info.unit != "count" else None,
        by_file=amount(figures.by_file.get(info.name), info.unit),
        n=f"{estimate.n:,}",
        summary=info.summary,
        better=BETTER.get(info.better, ""),
    )


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


def _bands(task: Task, figures: FilterFigures) -> tuple[BandRow, ...]:
    """Return a row for each band of the task. If the engine failed, a last row has the number of failed sessions among
    them."""
    counts, failed = figures.ranks, failures(figures.statuses)
    total, most = sum(counts.values()), max(counts.values(), default=0)

    def row(key: tuple[str, str], label: str, outcome: str, count: int) -> BandRow:
        share = amount(count / total if total else None, "share")
        return BandRow(key, label, outcome, f"{count:,}", share, round(100 * count / most, 2) if most else 0)

    rows = [
        row(("band", band.name), band.label or band.name, band.outcome, counts[band.name])
        for band in task.bands
        if band.name in counts
    ]
    return (*rows, *([row(("status", ",".join(FAILURES)), "of these, failed", "failed", failed)] if failed else []))


def _kinds(kinds: Mapping[str, Mapping[str, Estimate]], infos: Sequence[MetricInfo]) -> tuple[KindRow, ...]:
    nothing = Estimate(value=None)
    return tuple(
        KindRow(
            kind=kind,
            label=kind.lower().replace("_", " "),
            sessions=f"{sessions:,}",
            cells=tuple(
                (amount(estimate.value, info.unit), intervals(estimate, info.unit))
                for info in infos
                for estimate in (kinds[kind].get(info.name, nothing),)
            ),
        )
        for kind, sessions in sessions_by_kind(kinds).items()
    )


def _columns(infos: Sequence[MetricInfo], files: int) -> list[MetricInfo]:
    """Return the columns of the table of files: all metrics but counts, or only the headline ones if the page would
    become too large."""
    columns = [info for info in infos if info.unit != "count"]
    return columns if len(columns) * files <= MAX_CELLS else headline(infos)


def _column(info: MetricInfo, shown: Sequence[MetricInfo]) -> Column:
    summary = " · ".join(filter(None, (info.summary, BETTER.get(info.better))))
    return Column(info.name, summary, info.better, info in shown)


def _files(figures: FilterFigures, links: Mapping[str, str], columns: Sequence[MetricInfo]) -> list[FileRow]:
    """Return a row for each file with figures or with a page, and for each folder before what is in it."""
    rows = []
    for path in sorted({*figures.files, *figures.folders, *links}):
        of_file = figures.files.get(path) or figures.folders.get(path)
        metrics = of_file.metrics if of_file else {}
        cells = tuple(amount(metrics.get(info.name), info.unit) for info in columns)
        rows.append(FileRow(path, links.get(path, ""), f"{of_file.sessions if of_file else 0:,}", cells))
    return rows


def _error(error: FileError) -> ErrorRow:
    trace = error.trace if len(error.trace) <= MAX_TRACE else f"{error.trace[:MAX_TRACE]}\n…"
    return ErrorRow(error.path, error.stage, error.message[:MAX_TRACE], f"{error.sessions:,}", trace)
