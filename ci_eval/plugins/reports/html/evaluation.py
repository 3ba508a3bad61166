"""The pages of an evaluation: the metrics under each filter, and every file with its tokens in colour."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from urllib.parse import quote

from markupsafe import Markup

from ci_eval.core.catalogs import metrics, tasks
from ci_eval.core.contracts import Task
from ci_eval.core.filters import EVERYTHING, label, standard_parts
from ci_eval.core.model import Estimate, Evaluation, FilterFigures, MetricInfo, OtherCode, Session, SourceFile
from ci_eval.core.model.units import amount, interval
from ci_eval.core.statistics.repeated import noise_text
from ci_eval.rendering import figures as figure_texts
from ci_eval.rendering.advice import busy_text, collect_warnings, configuration_rows
from ci_eval.rendering.answers import answer_html
from ci_eval.rendering.htmlpages import (
    MISSES,
    OUTCOMES,
    SIGNS,
    Page,
    encode_stretches,
    legend,
    mark,
    page_link,
    page_name,
    pages,
)
from ci_eval.rendering.htmlsite import COMMON, HtmlSite, Scripts
from ci_eval.rendering.querytables import tables
from ci_eval.rendering.reporters import StoredSessions
from ci_eval.rendering.sessiontable import Computed, SessionTable, selection, write_sessions
from ci_eval.rendering.verdicts import populations

TEMPLATES = Path(__file__).parents[1] / "templates"
LEGEND = ("first", "near", "low", "absent", "failed", "skipped", "other")
ASSETS = (
    *COMMON,
    "index.js",
    "source.js",
    "unpacked.js",
    "file.js",
    "sessions.css",
    "filters.js",
    "figures.js",
    "sessions.js",
)
DATA = Path("files", "data")


class Pages:
    def __init__(self, evaluation: Evaluation, folder: Path) -> None:
        self._evaluation = evaluation
        self._task = tasks.CATALOG.load(evaluation.task)
        self._folder = folder
        known = {"amount": amount, "interval": interval, "meanings": figure_texts.OUTCOMES}
        self._site = HtmlSite(folder, TEMPLATES, most_errors=MAX_ERRORS, longest_trace=MAX_TRACE, **known)

    def write(self, sources: StoredSessions) -> None:
        """Write all pages. The pages of files are written first because the index links only to existing pages."""
        (self._folder / DATA).mkdir(parents=True)
        self._site.assets(ASSETS)
        evaluation, links = self._evaluation, dict[str, str]()
        # A report without sessions has no filters.
        whole = evaluation.filters.get(EVERYTHING)
        infos = figure_texts.headline(figure_texts.metric_infos(evaluation, whole)) if whole else []
        known = metrics.select_metrics(info.name for info in infos)
        computed = Computed(
            filters=sources.filters.all,
            metrics=[known[info.name] for info in infos if info.name in known],
            strata=sources.strata(),
            # The bound on the engine's variation covers all sessions, not only those that the page lists.
            asked=evaluation.asked if evaluation.is_function else None,
            clusters=evaluation.clusters,
            command="ci-eval report WORKSPACE --filter EXPR",
        )
        table = SessionTable(self._task, [""], evaluation.title, computed)
        sizes = {path: figures.sessions for path, figures in whole.files.items()} if whole else {}
        most = MOST_PAGES_OF_SAMPLE if evaluation.population_estimated else MOST_PAGES
        chosen = set[str]()
        for path in sorted(sources.paths, key=lambda path: (-sizes.get(path, 0), path))[:most]:
            if sum(sizes.get(of, 0) for of in chosen) < MOST_SESSIONS:
                chosen.add(path)
        for path in sources.paths:
            if table.is_full and path not in chosen:
                continue
            source, sessions = sources.of(path)
            if not table.is_full:
                table.begin(source, [f"files/{page_link(page_name(path), 0)}"] if path in chosen else [])
            if path in chosen:
                links[path] = self._write_file(sources, source, sessions, table)
            else:
                for session in sessions:
                    table.add([session])
        if table.is_full:
            planned = [figures.planned for figures in self._evaluation.filters.values()]
            table.left_out = max(planned, default=0) - table.rows
        write_sessions(self._site, table, self._evaluation.title)
        opened, _ = figure_texts.shown_filter(self._evaluation)
        for name in self._filter_names:
            self._write_index(name, opened, {path: links.get(path, "") for path in sources.paths})

    @property
    def _filter_names(self) -> list[str]:
        """Return the filters with a page, the headline's filter first. Filters by number of typed letters are
        columns of the headline's page and have no page, unless the headline covers all sessions."""
        opened, _ = figure_texts.shown_filter(self._evaluation)
        columns = figure_texts.find_length_filters(opened, list(self._evaluation.filters)).values()
        left_out = set(columns) if standard_parts(opened) != (None, None) else set()
        return [opened, *(name for name in self._evaluation.filters if name not in {opened, *left_out})]

    def _write_file(
        self, sources: StoredSessions, source: SourceFile, sessions: Iterator[Session], table: SessionTable
    ) -> str:
        """Write the pages of a file, and add its sessions to the table. Return the link to the first page."""
        name, task = page_name(source.path), self._task
        scripts = Scripts(self._folder / DATA, name, task)
        marks, leading = [], sources.filters.leading
        for place, session in enumerate(sessions):
            scripts.add(session)
            table.add([session])
            marks.append(mark(place, session, task, leading))
        scripts.close()
        parts = pages(source.text, marks)
        counts = Counter(spot.outcome for part in parts for spot in part.spots)
        meanings = legend(task)
        shown_outcomes = [of for of in LEGEND if of in meanings and (counts[of] or of != "other")]
        entries = [(of, SIGNS[of], meanings[of], counts[of]) for of in shown_outcomes]
        if len(parts) > 1:
            scripts.write_places([[id_ for spot in part.spots for id_ in spot.ids] for part in parts])
        paint = sources.paint(source, {session_mark.begin for session_mark in marks})
        links = [page_link(name, number) for number in range(len(parts))]
        _, shown = figure_texts.shown_filter(self._evaluation)
        figures = []
        if of_file := shown.files.get(source.path):
            infos = figure_texts.headline(figure_texts.metric_infos(self._evaluation, shown))
            known = [(info, of_file.metrics[info.name]) for info in infos if info.name in of_file.metrics]
            figures = [(info.name, amount(value, info.unit)) for info, value in known]
            figures = [("Sessions", f"{of_file.sessions:,}"), *figures]
        for number, part in enumerate(parts):
            self._site.render(
                "file.html.j2",
                f"files/{links[number]}",
                evaluation=self._evaluation,
                path=source.path,
                name=name,
                page=part,
                colours=encode_stretches(paint.colours, source.text, part.begin, part.end),
                unasked=encode_stretches(paint.unasked, source.text, part.begin, part.end),
                number=number + 1,
                links=links,
                firsts=[part.first_line for part in parts],
                lines=parts[-1].last_line,
                neighbours=_neighbours(parts, links, number),
                legend=[*entries, ("unasked", "", "not sampled", len(paint.unasked))] if paint.unasked else entries,
                about=label(self._evaluation.headline),
                figures=figures,
                starts=scripts.starts,
            )
        return f"files/{links[0]}"

    def _write_index(self, name: str, opened: str, links: dict[str, str]) -> None:
        evaluation, figures = self._evaluation, self._evaluation.filters.get(name, figure_texts.NO_FIGURES)
        # Pages of other filters list only the files with a session.
        shown = {path: link for path, link in links.items() if name == opened or path in figures.files}
        leading = figure_texts.headline(figure_texts.metric_infos(evaluation, figures))
        has_lengths = name == opened and len(figure_texts.find_length_figures(evaluation)) > 1
        lengths = figure_texts.lengths_table(evaluation, leading) if has_lengths else None
        self._site.render(
            "index.html.j2",
            _index_name(name, opened),
            evaluation=evaluation,
            answer=answer_html(evaluation) if name == opened else "",
            tabs=[
                {"name": label(of), "link": _index_name(of, opened), "current": of == name} for of in self._filter_names
            ],
            beside=figure_texts.sentences(evaluation)[1:] if name == opened else [],
            tables=tables(evaluation) if name == opened else [],
            noise=noise_text(evaluation.noise) if evaluation.noise else "",
            footprint=figure_texts.footprint_text(evaluation.footprint),
            told=configuration_rows(evaluation.sent),
            busy=busy_text(evaluation.machine),
            failed=figure_texts.failed_everywhere(evaluation),
            selection=selection(name),
            about=figure_texts.pooled_label(name, evaluation.filters),
            lengths=lengths,
            indicative=figure_texts.indicative(evaluation).replace("`", ""),
            warnings=collect_warnings(evaluation),
            task=self._task,
            figures=figures,
            page=_index_values(evaluation, self._task, figures, shown, selection(name)),
        )


def _index_name(name: str, opened: str) -> str:
    return "index.html" if name == opened else f"filter-{page_name(name)}.html"


def _neighbours(parts: Sequence[Page], links: Sequence[str], number: int) -> dict[str, str]:
    """Return the links to the neighbouring pages, tokens and misses in the file. A missing link is ""."""
    addresses = {}
    for side, numbers in (("previous", range(number - 1, -1, -1)), ("next", range(number + 1, len(parts)))):
        addresses[side] = links[numbers[0]] if numbers else ""
        for what, outcomes in (("token", frozenset(OUTCOMES)), ("miss", MISSES)):
            spots = ((links[other], spot) for other in numbers for spot in parts[other].spots[:: numbers.step])
            anchors = (f"{link}#{quote(spot.ids[0])}" for link, spot in spots if spot.outcome in outcomes)
            addresses[f"{side}_{what}"] = next(anchors, "")
    return addresses


MAX_ERRORS = 200
MAX_TRACE = 4_000
MAX_CELLS = 60_000
MAX_ROWS = 10_000
MOST_PAGES, MOST_PAGES_OF_SAMPLE, MOST_SESSIONS = 300, 85, 100_000
"""The limits of the files with pages: their number, their number if stage 1 drew a sample of a large project, and their
sessions, which the last file may exceed. Files with most sessions come first. Pages of 100,000 sessions take 65 MB. A
file has a page and a script."""


Row = dict[str, object]


def _index_values(
    evaluation: Evaluation, task: Task, figures: FilterFigures, links: Mapping[str, str], selected: str
) -> Row:
    """Return the values of an index page. `links` maps paths to file pages; `selected` is the result of `selection`."""
    infos = figure_texts.metric_infos(evaluation, figures)
    shown = figure_texts.headline(infos)
    quality, times = ([info for info in infos if info.is_time is is_time] for is_time in (False, True))
    # The bars of shares and scores end at 1. The bars of any other unit share one scale, so that they are comparable.
    scales = {"share": 1.0, "score": 1.0}
    for info in infos:
        estimate = figures.metrics[info.name]
        ends = (end or 0.0 for end in (estimate.value, estimate.high, estimate.elsewhere.high))
        if info.unit not in {"share", "score"}:
            scales[info.unit] = max(scales.get(info.unit, 0.0), 1.1 * max(ends))
    bars = {info.name: _bar(info, figures, scales[info.unit]) for info in infos if info.unit != "count"}
    # Show all metrics except counts; if the page would become too large, show only the headline metrics.
    columns = [info for info in infos if info.unit != "count"]
    if len(columns) * (len(figures.files) + len(figures.folders)) > MAX_CELLS:
        columns = shown
    files = []
    # Sorting puts a folder before its content.
    for path in sorted({*figures.files, *figures.folders, *links}):
        of_file = figures.files.get(path) or figures.folders.get(path)
        metrics = of_file.metrics if of_file else {}
        cells = [amount(metrics.get(info.name), info.unit) for info in columns]
        sessions = f"{of_file.sessions if of_file else 0:,}"
        files.append({"path": path, "link": links.get(path, ""), "sessions": sessions, "cells": cells})
    return {
        "client": figure_texts.client_name(evaluation),
        "evaluated": figure_texts.describe_session_counts(figures),
        "populations": populations(evaluation),
        "undecided": figures.undecided,
        "statuses": figure_texts.statuses(figures.statuses),
        "cards": shown,
        "bars": bars,
        "quality": figure_texts.metric_table("Metrics", figures, quality, bars=bars),
        "latency": figure_texts.metric_table("Times", figures, times, bars=bars),
        "bands": _bands(task, figures),
        "misses": _misses(task, figures, selected),
        "kinds": figure_texts.kinds_table(figures, shown, selected),
        "columns": columns,
        "files": files[:MAX_ROWS],
        "files_left_out": max(0, len(files) - MAX_ROWS),
        "has_all_pages": all(links.values()),
    }


def _bar(info: MetricInfo, figures: FilterFigures, scale: float) -> Markup:
    estimate = figures.metrics[info.name]
    if estimate.value is None or not scale > 0:
        return Markup()

    # If the interval lacks an end, the value itself is drawn there.
    def place(value: float | None) -> float:
        return round(min(100.0, max(0.0, 100 * (estimate.value or 0 if value is None else value) / scale)), 1)

    def draw(name: str, of: Estimate | OtherCode, y: int, height: int) -> Markup:
        box = Markup('<rect class="{}" x="{}" y="{}" width="{}" height="{}"/>')
        return box.format(name, place(of.low), y, round(place(of.high) - place(of.low), 1), height)

    here, elsewhere = interval(estimate, info.unit), interval(estimate.elsewhere, info.unit)
    read = amount(estimate.value, info.unit)
    read += f", in this project {here}" if here else ""
    read += f", in other code {elsewhere}" if elsewhere else ""
    at = place(estimate.value)
    track = "M0 4h100v2H0zM25 2.5v5M50 2.5v5M75 2.5v5"
    return Markup(
        '<svg class="bar" viewBox="0 0 100 10" preserveAspectRatio="none" role="img" aria-label="{0}">'
        '<title>{0}</title><path class="track" d="{1}" vector-effect="non-scaling-stroke"/>{2}{3}'
        '<rect class="point" x="{4}" width="1.2" height="10"/></svg>'
        '<span class="ends" aria-hidden="true"><span>0</span><span>{5}</span></span>\n'
    ).format(
        read,
        track,
        "" if estimate.elsewhere.low is None else draw("beyond", estimate.elsewhere, 3, 4),
        draw("range", estimate, 2, 6),
        at - 0.6 if at > 0.6 else 0,
        {"share": f"{scale:.0%}", "ms": f"{scale:,.0f} ms"}.get(info.unit, f"{scale:.3g}"),
    )


MOST_MISSES = 6


def _misses(task: Task, figures: FilterFigures, selected: str) -> list[tuple[str, str]]:
    """Return links to the sessions whose expected text is not first, one link and label per kind, the most first."""
    shares = {kind: of["RecallAt1"] for kind, of in figures.kinds.items() if "RecallAt1" in of}
    counts = {kind: round((1 - of.value) * of.n) for kind, of in shares.items() if of.value is not None}
    bands = ",".join(quote(band.name) for band in task.bands if band.outcome != "first")
    return [
        (
            "sessions.html#" + "&".join(filter(None, (selected, f"kind={quote(kind)}", f"band={bands}"))),
            f"{count:,} {kind.lower().replace('_', ' ')}",
        )
        for kind, count in sorted(counts.items(), key=lambda item: (-item[1], item[0]))[:MOST_MISSES]
        if count
    ]


def _bands(task: Task, figures: FilterFigures) -> list[tuple[object, ...]]:
    """Return a row for each band. If the engine failed, a last row has the number of failed sessions.

    A row has the condition and value that select its sessions, label, outcome, number, share, and bar width in percent.
    """
    counts, failed = figures.ranks, figure_texts.failures(figures.statuses)
    total, most = sum(counts.values()), max(counts.values(), default=0)
    rows: list[tuple[str, str, str, str, int]] = [
        ("band", band.name, band.label or band.name, band.outcome, counts[band.name])
        for band in task.bands
        if band.name in counts
    ]
    if failed:
        rows.append(("status", ",".join(figure_texts.FAILURES), "of these, failed", "failed", failed))
    return [
        (*row, amount(row[-1] / total if total else None, "share"), round(100 * row[-1] / most, 2) if most else 0)
        for row in rows
    ]
