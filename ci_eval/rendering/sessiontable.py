"""Store the sessions of a report as columns of numbers, for the page that shows, filters and groups them.

A report that is opened from disk cannot fetch data, so the columns are a script. Frequent texts are stored once.
"""

from __future__ import annotations

import hashlib
from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Sequence
from itertools import accumulate, count
from typing import Any
from urllib.parse import quote

import msgspec

from ci_eval.core.contracts import Metric, Task
from ci_eval.core.filters import EVERYTHING, ReportFilter, label
from ci_eval.core.model import Session, SourceFile
from ci_eval.core.scoring import (
    FAILED_BAND,
    UNGRADED_BAND,
    band,
    evaluated,
    observe_metrics,
    score,
    shown_rank,
    task_band,
)
from ci_eval.core.statistics.paired import FLOORS, MARGINS
from ci_eval.core.statistics.population import Key, Strata, find_cluster
from ci_eval.rendering.htmlpages import classify_change
from ci_eval.rendering.htmlsite import HtmlSite, pack_json, script

MOST_ROWS = 100_000
"""The limit of rows. Browsers limit the height of a list, and 100,000 pairs take 5 s of CPU."""
LONGEST = 120
BEFORE, WIDTH = 60, 160
"""The limits of a line of code, in characters: before the token, and in total."""

CONDITIONS = ("static", "argument", "first", "location", "package", "strategy", "scenario", "evolution")
COLUMNS = "file page line code at expected prefix typed kind properties filters change stratum"
CHANGES = ("better", "worse", "same", "only")


def _numbering() -> defaultdict[Any, int]:
    return defaultdict(count().__next__)


class Side(msgspec.Struct):
    status: list[int] = msgspec.field(default_factory=list)
    band: list[int] = msgspec.field(default_factory=list)
    """The number of the band; -1 if the session does not exist or was not asked."""
    rank: list[int] = msgspec.field(default_factory=list)
    """The rank; 0 if the expected text is absent."""
    score: list[int] = msgspec.field(default_factory=list)
    """The score in percent if the task has `play`, else 0."""
    first: list[int] = msgspec.field(default_factory=list)
    """The number of the first suggestion's text; -1 if there is none."""
    latency: list[int] = msgspec.field(default_factory=list)
    """The time of the slowest lookup, in tenths of a millisecond; -1 if it was not measured in this run."""
    observed: list[list[int]] = msgspec.field(default_factory=list)


class Computed(msgspec.Struct, frozen=True, kw_only=True):
    filters: Sequence[ReportFilter] = ()
    metrics: Sequence[Metric] = ()
    asked: float | None = None
    clusters: str | None = None
    """The unit of the sample (see `find_cluster`); None if there are no intervals for code outside this project."""
    strata: Strata = msgspec.field(default_factory=lambda: Strata({}))
    unseen: float | None = None
    """As in `Comparison.unseen`; None if no difference is exact."""
    command: str = ""
    """The command for figures that the page cannot compute, with EXPR in place of a filter."""


NOTHING_COMPUTED = Computed()


class SessionTable:
    def __init__(self, task: Task, sides: Sequence[str], title: str, computed: Computed = NOTHING_COMPUTED) -> None:
        """Start an empty table. `sides` are the names of its sides; [""] for a single evaluation."""
        self._task = task
        self._title = title
        self._names = sides
        self._computed = computed
        self._metrics = [metric for metric in computed.metrics if metric.statistic == "ratio" and not metric.timed]
        self._combinations = _numbering()
        """The combinations of filters that rows pass → their numbers."""
        self._clusters = _numbering()
        self._strata = _numbering()
        self._asked: Counter[Key] = Counter()
        self._cluster_of_file: list[int] = []
        self._observed = _numbering()
        self._wholes: dict[int, str] = {}
        self._properties = _numbering()
        self._sides = [Side(observed=[[] for _ in self._metrics]) for _ in sides]
        self._source, self._begins = "", [0, 1]
        self._files: list[tuple[str, list[str]]] = []
        self._texts, self._lines, self._kinds, self._statuses = (_numbering() for _ in range(4))
        self._ids: list[str] = []
        self._columns: dict[str, list[int]] = {name: [] for name in COLUMNS.split()}
        bands: list[tuple[str, str, str]] = [
            (task_band.name, task_band.label or task_band.name, task_band.outcome) for task_band in task.bands
        ]
        self._bands = [*bands, (FAILED_BAND, FAILED_BAND, "failed")] if len(sides) > 1 else bands
        self._band_numbers = {name: number for number, (name, _, _) in enumerate(self._bands)}
        self._band_numbers[UNGRADED_BAND] = len(self._bands)
        self.left_out = 0

    def begin(self, source: SourceFile, links: Sequence[str]) -> None:
        """Start a file. Its sessions must follow in order of offset. `links`: relative links to its pages."""
        self._source = source.text
        # The offset of each line, and the offset of a line after the last.
        self._begins = [0, *accumulate(len(line) + 1 for line in source.text.split("\n"))]
        self._files.append((source.path, list(links)))
        if self._computed.clusters:
            self._cluster_of_file.append(self._clusters[find_cluster(source.path, self._computed.clusters)])

    @property
    def rows(self) -> int:
        return len(self._ids)

    @property
    def is_full(self) -> bool:
        return self.rows >= MOST_ROWS

    def add(self, row: Sequence[Session | None], page: int = 0) -> None:
        """Add the session of each side, or None if a side lacks it. `page` is the number of its page, from 0."""
        if self.is_full:
            self.left_out += 1
            return
        session = row[-1] or row[0]
        assert session
        # The offset after the last line is not searched, so a session at the very end of the text is in the last line.
        number = bisect_right(self._begins, session.offset, hi=len(self._begins) - 1)
        begin, end = self._begins[number - 1], self._begins[number]
        line = self._source[begin : end - 1]
        code, at = crop_line(line, session.offset - begin)
        last = session.lookups[session.until - 1] if session.lookups else None
        prefix = last.prefix if last else session.expected_text[: session.typed]
        # For a pair, the session of base decides which filters it passes.
        filtered = row[0] or session
        passed = tuple([number for number, part in enumerate(self._computed.filters) if part.passes(filtered)])
        self._ids.append(session.id)
        stratum = self._computed.strata.find(filtered)
        self._asked[stratum] += all(own_session and evaluated(own_session) for own_session in row)
        # The properties by which filters select sessions.
        known = session.properties
        properties = (
            known.is_static, known.is_argument, known.first_use, known.location, known.package, known.strategy,
            known.scenario, known.evolution,
        )  # fmt: skip
        expected = self._number_text(session.expected_text)
        if len(session.expected_text) > LONGEST:
            # Filters compare the whole text.
            self._wholes[expected] = session.expected_text
        values = (
            len(self._files) - 1, page, number, self._lines[code], at, expected, self._number_text(prefix),
            session.typed, self._kinds[known.kind.value], self._properties[properties], self._combinations[passed],
            CHANGES.index(classify_change((row[0], row[-1]), self._task)) if len(row) > 1 else 0, self._strata[stratum],
        )  # fmt: skip
        for column, value in zip(self._columns.values(), values, strict=True):
            column.append(value)
        for side, own_session in zip(self._sides, row, strict=True):
            self._add_side(side, own_session)

    def _number_text(self, text: str) -> int:
        """Return the number of a text. Long texts differ in number even if the part that the page has is equal."""
        if len(text) > LONGEST:
            text = text[:LONGEST] + hashlib.blake2b(text.encode("utf-8", "backslashreplace")).hexdigest()
        return self._texts[text]

    def _add_side(self, side: Side, session: Session | None) -> None:
        asked = session is not None and evaluated(session)
        side.status.append(self._statuses[session.status.value if session else "not there"])
        # As on the pages that link here, failed sessions have a separate band only in comparisons.
        find_band = band if len(self._sides) > 1 else task_band
        side.band.append(self._band_numbers[find_band(self._task, session)] if session and asked else -1)
        side.rank.append((shown_rank(self._task, session) or 0) if session else 0)
        side.score.append(round(100 * score(self._task, session)) if session and self._task.play else 0)
        suggestions = session.lookups[session.until - 1].suggestions if session and session.lookups else ()
        side.first.append(self._number_text(suggestions[0].text) if suggestions else -1)
        # A reused session has no time of this run; metrics ignore its time too.
        latencies = [lookup.latency for lookup in session.lookups] if session and not session.reused else []
        side.latency.append(round(10 * max(latencies)) if latencies else -1)
        seen = observe_metrics(self._metrics, session) if session and asked else [()] * len(self._metrics)
        for column, of_metric in zip(side.observed, seen, strict=True):
            column.append(self._observed[tuple(map(tuple, of_metric))])

    def script(self) -> bytes:
        bands, ungraded = self._bands, self._band_numbers[UNGRADED_BAND]
        if any(ungraded in side.band for side in self._sides):
            bands = [*bands, (UNGRADED_BAND, UNGRADED_BAND, "skipped")]
        table = {
            "title": self._title,
            "sides": self._names,
            "played": self._task.play is not None,
            "files": self._files,
            "texts": [text[:LONGEST] for text in self._texts],
            "wholes": list(self._wholes.items()),
            "lines": list(self._lines),
            "properties": [dict(zip(CONDITIONS, values, strict=True)) for values in self._properties],
            "metrics": [
                {
                    "name": metric.info.name,
                    "unit": metric.info.unit,
                    "without": metric.without,
                    "both": metric.found_by_both,
                    "limits": metric.info.limits,
                    "better": metric.info.better,
                    "span": 1.0 if metric.info.span is None else metric.info.span,
                    "floor": FLOORS.get(metric.info.unit, 0.0),
                    "margin": MARGINS.get(metric.info.unit, 0.0),
                }
                for metric in self._metrics
            ],
            "filters": [(part.name, label(part.name)) for part in self._computed.filters],
            "combinations": list(self._combinations),
            "observed": [[(float(value), float(weight)) for value, weight in seen] for seen in self._observed],
            "asked": self._computed.asked,
            "strata": [
                (max(self._computed.strata.sessions.get(key, 0), self._asked[key]), self._asked[key])
                for key in self._strata
            ],
            "clusters": self._cluster_of_file,
            "unseen": self._computed.unseen,
            "command": self._computed.command,
            "kinds": list(self._kinds),
            "statuses": list(self._statuses),
            "bands": bands,
            "changes": CHANGES,
            "ids": " ".join(self._ids),
            "columns": self._columns,
            "went": [msgspec.structs.asdict(side) for side in self._sides],
            "leftOut": self.left_out,
        }
        return script("ciEval.table", pack_json(table))


def write_sessions(site: HtmlSite, table: SessionTable, title: str) -> None:
    site.write("sessions-data.js", table.script())
    site.render("sessions.html.j2", "sessions.html", title=title, left_out=table.left_out)


def selection(filter_name: str) -> str:
    """Return the part of an address that selects a filter's sessions on their page; "" for all sessions."""
    return "" if filter_name == EVERYTHING else f"filter={quote(filter_name, safe='')}"


def crop_line(line: str, at: int) -> tuple[str, int]:
    """Return the part of a line around the token at `at`, without indentation, and the token's index in this part."""
    begin = max(len(line) - len(line.lstrip()), at - BEFORE if at > BEFORE else 0)
    begin = min(begin, at)
    return line[begin : begin + WIDTH], at - begin
