"""The pages of an evaluation: the figures under each session filter, and every file with its tokens coloured by how
their sessions went."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from urllib.parse import quote

from ci_eval.core.catalogs import metrics, tasks
from ci_eval.core.filters import EVERYTHING, ReportFilter, label, standard_parts
from ci_eval.core.model import Evaluation
from ci_eval.core.model.units import amount
from ci_eval.core.rendering.advice import busy_text, collect_warnings, told_rows
from ci_eval.core.rendering.blocks import added_blocks
from ci_eval.core.rendering.contract import StoredSessions
from ci_eval.core.rendering.figures import (
    INDICATIVE,
    NO_FIGURES,
    failed_everywhere,
    find_length_figures,
    find_length_filters,
    footprint_text,
    headline,
    lengths_table,
    metric_infos,
    pooled_label,
    sentences,
    shown_filter,
)
from ci_eval.core.rendering.htmlindex import index
from ci_eval.core.rendering.htmlpages import (
    MISSES,
    OUTCOMES,
    SIGNS,
    Page,
    encode_stretches,
    legend,
    mark,
    page_name,
    pages,
)
from ci_eval.core.rendering.htmlsite import COMMON, HtmlSite, Scripts
from ci_eval.core.rendering.querytables import tables
from ci_eval.core.rendering.sessiontable import Computed, SessionTable, selection, write_sessions
from ci_eval.core.statistics.repeated.noise import noise_text
from ci_eval.core.statistics.stats import wavers
from ci_eval.core.workers import Workers

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
MANY = 20_000
"""The number of sessions below which starting processes takes longer than they save."""


class Pages:
    """A report while it is written to `folder`."""

    def __init__(self, evaluation: Evaluation, folder: Path) -> None:
        self._evaluation = evaluation
        self._task = tasks.CATALOG.load(evaluation.task)
        self._folder = folder
        self._site = HtmlSite(folder, TEMPLATES)

    def _make_table(self, filters: Sequence[ReportFilter]) -> SessionTable:
        """Return the table of all sessions, whose page computes the figures of those it lists."""
        evaluation = self._evaluation
        # A report without sessions has no filters.
        whole = evaluation.filters.get(EVERYTHING)
        infos = headline(metric_infos(evaluation, whole)) if whole else []
        known = metrics.select_metrics(info.name for info in infos)
        # A weighted session counts as several that were not asked.
        weighted = whole is not None and any(figure.state == "weighted" for figure in whole.metrics.values())
        repeats = evaluation.repeats
        computed = Computed(
            filters=filters,
            metrics=[] if weighted else [known[info.name] for info in infos if info.name in known],
            # Noise that several rounds measured is that of each session by itself, which the page does not have.
            asked=None if evaluation.noise and evaluation.noise.differing else evaluation.asked,
            noise=wavers(repeats, 1).variance.item() if repeats and repeats.differed else 0.0,
            clusters=evaluation.clusters,
            command="ci-eval report WORKSPACE --filter EXPR",
        )
        return SessionTable(self._task, [""], evaluation.title, computed)

    def write(self, sources: StoredSessions) -> None:
        """Write the pages of files first: the index links only to pages that exist."""
        (self._folder / DATA).mkdir(parents=True)
        self._site.assets(ASSETS)
        table = self._make_table(sources.filters.all)
        links = {}
        # While workers write the pages, this process fills the table, as far as that goes.
        for (written, link), path in zip(self._write_files(sources), sources.paths, strict=True):
            links[written] = link
            if table.is_full:
                continue
            source, sessions = sources.of(path)
            table.begin(source, [f"files/{_page_link(page_name(source.path), 0)}"])
            for session in sessions:
                table.add([session])
        if table.is_full:
            planned = [figures.planned for figures in self._evaluation.filters.values()]
            table.left_out = max(planned, default=0) - table.rows
        write_sessions(self._site, table, self._evaluation.title)
        opened, _ = shown_filter(self._evaluation)
        for name in self._filter_names:
            # Workers finish in any order, so the links are put back into the order of the files.
            self._write_index(name, opened, {path: links[path] for path in sources.paths})

    def _write_files(self, sources: StoredSessions) -> Iterator[tuple[str, str]]:
        """Write the pages of all files; yield the path of each file with the link to its first page, as they come."""
        sessions = [figures.sessions for figures in self._evaluation.filters.values()]
        here = _FilePages(self._evaluation, self._folder, sources)
        if sources.processes < 2 or max(sessions, default=0) < MANY:
            yield from ((path, here.write(path)) for path in sources.paths)
            return
        # Once it has written, `here` holds a template environment, which cannot be pickled for workers.
        pages = _FilePages(self._evaluation, self._folder, sources)
        workers: Workers[str, str] = Workers(_FilePages.write, jobs=sources.processes, shared=(pages,))
        with workers:
            for outcome in filter(None, workers.map(deque(sources.paths))):
                # A file whose worker failed is written again here: the same error is then raised with its own type.
                yield outcome.task, outcome.result or here.write(outcome.task)

    @property
    def _filter_names(self) -> list[str]:
        """Return the filters that have a page, the headline's first. Filters for the headline's other numbers of
        letters have none: they are columns there, unless the headline has all sessions."""
        opened, _ = shown_filter(self._evaluation)
        columns = find_length_filters(opened, list(self._evaluation.filters)).values()
        left_out = set(columns) if standard_parts(opened) != (None, None) else set()
        return [opened, *(name for name in self._evaluation.filters if name not in {opened, *left_out})]

    def _write_index(self, name: str, opened: str, links: dict[str, str]) -> None:
        figures = self._evaluation.filters.get(name, NO_FIGURES)
        shown = links if name == opened else figures.files
        self._site.render(
            "index.html.j2",
            _index_name(name, opened),
            evaluation=self._evaluation,
            tabs=[
                {"name": label(of), "link": _index_name(of, opened), "current": of == name} for of in self._filter_names
            ],
            beside=sentences(self._evaluation)[1:] if name == opened else [],
            tables=tables(self._evaluation) if name == opened else [],
            noise=noise_text(self._evaluation.noise) if self._evaluation.noise else "",
            footprint=footprint_text(self._evaluation.footprint),
            told=told_rows(self._evaluation.sent),
            busy=busy_text(self._evaluation.machine),
            failed=failed_everywhere(self._evaluation),
            selection=selection(name),
            about=pooled_label(name, self._evaluation.filters),
            lengths=lengths_table(self._evaluation, headline(metric_infos(self._evaluation, figures)))
            if name == opened and len(find_length_figures(self._evaluation)) > 1
            else None,
            indicative=INDICATIVE.replace("`", ""),
            warnings=collect_warnings(self._evaluation),
            task=self._task,
            added=[block for block in added_blocks(self._evaluation) if "html" in block.formats],
            # Under other filters than the first, files without a session are left out.
            page=index(self._evaluation, self._task, figures, {path: links[path] for path in links if path in shown}),
        )


@dataclass(frozen=True)
class _FilePages:
    """A writer of the pages of one file after the other; other processes may write those of others."""

    evaluation: Evaluation
    folder: Path
    sources: StoredSessions

    @cached_property
    def _site(self) -> HtmlSite:
        return HtmlSite(self.folder, TEMPLATES)

    def write(self, path: str) -> str:
        """Write the pages of one file; return the link to the first of them."""
        source, sessions = self.sources.of(path)
        name, task = page_name(path), tasks.CATALOG.load(self.evaluation.task)
        scripts = Scripts(self.folder / DATA, name, task)
        marks, leading = [], self.sources.filters.leading
        for place, session in enumerate(sessions):
            scripts.add(session)
            marks.append(mark(place, session, task, leading))
        scripts.close()
        parts = pages(source.text, marks)
        counts = Counter(spot.outcome for part in parts for spot in part.spots)
        if len(parts) > 1:
            scripts.write_places([[id_ for spot in part.spots for id_ in spot.ids] for part in parts])
        paint = self.sources.paint(source, {session_mark.begin for session_mark in marks})
        links = [_page_link(name, number) for number in range(len(parts))]
        for number, part in enumerate(parts):
            self._site.render(
                "file.html.j2",
                f"files/{links[number]}",
                evaluation=self.evaluation,
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
                legend=_legend(counts, legend(task), len(paint.unasked)),
                about=label(self.evaluation.headline),
                figures=self._figures(source.path),
                starts=scripts.starts,
            )
        return f"files/{links[0]}"

    def _figures(self, path: str) -> list[tuple[str, str]]:
        _, figures = shown_filter(self.evaluation)
        if path not in figures.files:
            return []
        of_file = figures.files[path].metrics
        infos = headline(metric_infos(self.evaluation, figures))
        rows = [(info.name, amount(of_file[info.name], info.unit)) for info in infos if info.name in of_file]
        return [("Sessions", f"{figures.files[path].sessions:,}"), *rows]


def _index_name(name: str, opened: str) -> str:
    return "index.html" if name == opened else f"filter-{page_name(name)}.html"


def _page_link(name: str, number: int) -> str:
    return f"{name}-{number + 1}.html" if number else f"{name}.html"


def _legend(counts: Counter[str], meanings: Mapping[str, str], unasked: int) -> list[dict[str, object]]:
    shown = [name for name in LEGEND if name in meanings and (counts[name] or name != "other")]
    entries = [(name, SIGNS[name], meanings[name], counts[name]) for name in shown]
    if unasked:
        entries.append(("unasked", "", "not drawn", unasked))
    return [dict(zip(("outcome", "sign", "meaning", "count"), entry, strict=True)) for entry in entries]


def _neighbours(parts: Sequence[Page], links: Sequence[str], number: int) -> dict[str, str]:
    """Return the links to other pages of the same file; an empty one if there is none."""
    after, before = range(number + 1, len(parts)), range(number - 1, -1, -1)
    everything = frozenset(OUTCOMES)
    return {
        "previous": links[number - 1] if number else "",
        "next": links[number + 1] if number + 1 < len(parts) else "",
        "previous_token": _nearest(parts, links, before, everything),
        "next_token": _nearest(parts, links, after, everything),
        "previous_miss": _nearest(parts, links, before, MISSES),
        "next_miss": _nearest(parts, links, after, MISSES),
    }


def _nearest(parts: Sequence[Page], links: Sequence[str], numbers: range, outcomes: frozenset[str]) -> str:
    """Return a link to the next token with one of the outcomes, on the pages `numbers`, which count up or down; "" if
    there is none."""
    for number in numbers:
        for spot in parts[number].spots[:: numbers.step]:
            if spot.outcome in outcomes:
                return f"{links[number]}#{quote(spot.ids[0])}"
    return ""
