"""The pages of a comparison: verdicts, and source code whose tokens are coloured half by base and half by new."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from ci_eval.core.catalogs import metrics, tasks
from ci_eval.core.model import Comparison
from ci_eval.core.model.units import TRENDS, amount
from ci_eval.core.statistics.population import Strata
from ci_eval.rendering.answers import answer_html
from ci_eval.rendering.charts import trend_charts
from ci_eval.rendering.figures import ELSEWHERE, HERE, find_length_filters
from ci_eval.rendering.htmlpages import either, encode_stretches, page_link, page_name, paired_pages
from ci_eval.rendering.htmlsite import COMMON, HtmlSite, report_link, script
from ci_eval.rendering.reporters import PairedSessions
from ci_eval.rendering.sessiontable import MOST_ROWS, Computed, SessionTable, selection, write_sessions
from ci_eval.rendering.verdicts import (
    ADJUSTED,
    changes_table,
    compared_by_length,
    elsewhere_line,
    judged_elsewhere,
    night_figure,
    pairs_text,
    parts_table,
    verdict_lines,
    verdict_table,
)

TEMPLATES = Path(__file__).parents[1] / "templates"
ASSETS = (
    *COMMON, "comparison.css", "comparison.js", "source.js", "sorting.js", "unpacked.js", "sessions.css", "filters.js",
    "figures.js", "sessions.js",
)  # fmt: skip
MOST_SESSIONS = 50_000
"""The approximate maximum number of sessions on pages. Files with a listed change or with many changes come first."""


class ComparisonPages:
    def __init__(self, comparison: Comparison, folder: Path, target: Path) -> None:
        self._target = target
        self._comparison = comparison
        self._task = tasks.CATALOG.load(comparison.task)
        infos = {info.name: info for info in comparison.metrics}
        rest = [info for info in comparison.metrics if info.name not in comparison.declared]
        self._site = HtmlSite(
            folder,
            TEMPLATES,
            comparison=comparison,
            verdicts=lambda *of, **options: verdict_table(comparison, *of, **options).html(),
            amount=amount,
            figure=night_figure,
            answer=answer_html(comparison),
            lines=verdict_lines(comparison),
            elsewhere_line=elsewhere_line(comparison),
            pairs=pairs_text(comparison),
            selection=f"{part}&" if (part := selection(comparison.headline)) else "",
            timed=[name for name in comparison.declared if infos[name].is_time],
            others=[info.name for info in sorted(rest, key=lambda info: info.is_time)],
            lengths=find_length_filters(comparison.headline, list(comparison.filters)),
            lengths_table=compared_by_length(comparison),
            adjusted=ADJUSTED,
            here=HERE,
            elsewhere=ELSEWHERE,
            judged_elsewhere=judged_elsewhere(comparison),
        )

    def write(self, sources: PairedSessions) -> None:
        self._site.assets(ASSETS)
        paths_with_pages = self._choose_files(MOST_SESSIONS)
        title = f"{self._comparison.base.title} → {self._comparison.new.title}"
        judged = metrics.select_metrics(self._comparison.declared)
        weighted = any(of.state == "weighted" for of in self._comparison.filters["ALL"].values())
        computed = Computed(
            filters=sources.filters.all,
            metrics=[*judged.values()],
            strata=sources.strata() if weighted else Strata({}),
            unseen=self._comparison.unseen,
            command="ci-eval compare BASE NEW --filter EXPR",
        )
        table = SessionTable(self._task, ["base", "new"], title, computed)
        places: dict[str, str] = {}
        links: dict[str, str] = {}
        has_room = self._comparison.paired <= MOST_ROWS
        paired = 0
        for source, pairs in sources.of(None if has_room else self._choose_files(MOST_ROWS)):
            paired += sum(None not in pair for pair in pairs)
            # Files without a page have rows in the table of sessions too, but these rows have no link.
            if source.path not in paths_with_pages:
                table.begin(source, [])
                for pair in pairs:
                    table.add(pair)
                continue
            name = page_name(source.path)
            parts = paired_pages(source, pairs, self._task, sources.filters.leading)
            changed = Counter(piece.change for part in parts for piece in part.pieces)
            names = [page_link(name, number) for number in range(len(parts))]
            paint = sources.paint(source, {session.offset for pair in pairs for session in pair if session})
            shared = {
                "path": source.path,
                "names": names,
                "changed": changed,
                "not_drawn": len(paint.unasked),
                "firsts": [part.page.first_line for part in parts],
            }
            for number, part in enumerate(parts):
                link = f"files/{names[number]}"
                links.setdefault(source.path, link)
                places |= {shown[0]: f"{link}#{shown[0]}" for shown in part.shown}
                within = (source.text, part.page.begin, part.page.end)
                colours, unasked = encode_stretches(paint.colours, *within), encode_stretches(paint.unasked, *within)
                data = f"data/{Path(link).stem}.js"
                self._site.write(f"files/{data}", script("ciEval.pairs", part.shown))
                known = {**shared, "part": part, "data": data, "number": number + 1}
                self._site.render("comparison_file.html.j2", link, colours=colours, unasked=unasked, **known)
            # Pages without sessions need no link, so the table numbers only the other pages.
            table.begin(source, [places[part.shown[0][0]].partition("#")[0] for part in parts if part.shown])
            page_of = {
                shown[0]: page for page, part in enumerate(part for part in parts if part.shown) for shown in part.shown
            }
            for pair in pairs:
                table.add(pair, page_of[either(pair).id])
        table.left_out += self._comparison.paired - paired
        write_sessions(self._site, table, title)
        by_file = [part for part in self._comparison.parts if part.dimension == "file"]
        others = [part for part in self._comparison.parts if part.dimension != "file"]
        self._site.render(
            "comparison_index.html.j2",
            "index.html",
            changes={
                "Worst regressions": changes_table(self._comparison.regressions, self._task, "#regressions", places),
                "Best improvements": changes_table(self._comparison.improvements, self._task, "#improvements", places),
            },
            parts=parts_table(self._comparison, others, label="By part"),
            by_file=parts_table(
                self._comparison, sorted(by_file, key=lambda part: -part.losses), label="By file", links=links
            ),
            runs=[report_link(workspace, self._target) for workspace in sources.evaluations],
            charts=trend_charts(trend, [*self._comparison.declared, *TRENDS])
            if (trend := self._comparison.trend)
            else (),
        )

    def _choose_files(self, room: int) -> frozenset[str]:
        """Return files with about `room` sessions in total, first those with a listed change, then by most changes."""
        sessions = {part.value: part.sessions for part in self._comparison.parts if part.dimension == "file"}
        changes = (*self._comparison.regressions, *self._comparison.improvements)
        listed = dict.fromkeys(listed_change.file for listed_change in changes)
        changed = {part.value: part.wins + part.losses for part in self._comparison.parts if part.dimension == "file"}
        chosen = set()
        for path in (*listed, *sorted(changed, key=lambda path: (-changed[path], path))):
            if path not in chosen and room > 0:
                chosen.add(path)
                # `parts` contains only the files with the most sessions, so any other file counts as one session.
                room -= sessions.get(path, 1)
        return frozenset(chosen)
