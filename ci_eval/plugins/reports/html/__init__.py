"""The pages `html/index.html` of each result. They open from disk, without a network."""

from __future__ import annotations

from pathlib import Path
from typing import Any, get_args

from ci_eval.core import machine
from ci_eval.core.base import atomic
from ci_eval.core.filters import label
from ci_eval.core.model import FORMAT, Comparison, Evaluation, Line, Lines, MetricInfo, Suite, Sweep, Trend
from ci_eval.core.model.report import Cases, Causes
from ci_eval.core.model.units import NOTHING, TRENDS, amount, change, interval
from ci_eval.plugins.reports.html.comparison import ComparisonPages
from ci_eval.plugins.reports.html.evaluation import TEMPLATES, Pages
from ci_eval.rendering.charts import ranking_charts, sweep_charts, trend_charts
from ci_eval.rendering.figures import NO_ESTIMATE, format_count
from ci_eval.rendering.htmlsite import COMMON, HtmlSite, replace_folder, report_link
from ci_eval.rendering.reporters import Reporter, Result, Small
from ci_eval.rendering.results import change_lines, name_trends, small_blocks
from ci_eval.rendering.verdicts import night_figure


class Html:
    name = "html"
    results = (*get_args(Result), Lines)

    def write(self, result: Result | Lines, sources: Any, folder: Path) -> Path:
        """Write a site to `folder` itself, and other results to its folder `html`, `causes` or `cases`."""
        name = type(result).__name__.lower() if isinstance(result, Causes | Cases) else "html"
        target = folder if isinstance(result, Lines) else folder / name
        with replace_folder(target) as partial:
            match result:
                case Evaluation():
                    Pages(result, partial).write(sources)
                case Comparison():
                    ComparisonPages(result, partial, target).write(sources)
                case Lines():
                    write_site(result, partial)
                case _:
                    write_page(result, partial, folder)
        return target / "index.html"


def write_page(result: Small, partial: Path, folder: Path) -> None:
    title, heading, links = result.title, "", []
    if isinstance(result, Sweep):
        title, charts = f"Sweep of {', '.join(result.keys)}", sweep_charts(result)
    elif isinstance(result, Suite):
        heading, charts = f"on {format_count(len(result.projects), 'project')}", []
    elif isinstance(result, Causes):
        title, heading, charts = f"What {'got worse' if result.base else 'to fix first'}", result.title, []
    elif isinstance(result, Cases):
        title, heading, charts = "Cases", result.title, []
    else:
        trend = result.trend or next(iter(result.trends), None)
        metrics = [*(info.name for info in trend.metrics if info.name not in TRENDS), *TRENDS] if trend else []
        charts = ranking_charts(result.trends, name_trends(result), metrics)
        if result.trend:
            charts = trend_charts(result.trend, metrics)
        links = [report_link(folder / workspace, folder / "html") for workspace in result.workspaces]
    site = HtmlSite(partial, TEMPLATES, figure=night_figure, changes=lambda trend: list(change_lines(trend)))
    sorting = () if isinstance(result, Sweep) else ("sorting.js",)
    site.assets((*COMMON, "comparison.css", *sorting))
    blocks = [block for block in small_blocks(result, links) if "html" in block.formats]
    site.render(
        "result.html.j2", "index.html", title=title, heading=heading, blocks=blocks, charts=charts, sorting=sorting
    )


SITE_ASSETS = (*COMMON, "comparison.css", "site.css")


def write_site(result: Lines, folder: Path) -> None:
    """Write pages that need no script, network or server. Equal histories give byte-identical pages."""
    lines = result.lines
    site = HtmlSite(folder, TEMPLATES, amount=amount, interval=interval, step=_step)
    site.assets(SITE_ASSETS)
    newest = max((line.trend.nights[-1].started for line in lines), default="", key=machine.seconds)[:10]
    site.render("site_index.html.j2", "index.html", rows=list(map(_row, lines)), newest=newest)
    entries = []
    for line in lines:
        charts = trend_charts(line.trend, [info.name for info in line.trend.metrics])
        site.render("site_line.html.j2", f"{line.page}/index.html", line=line, charts=charts)
        about = {"name": line.name, "language": line.language}
        about |= {"completionType": line.completion_type, "client": line.client}
        atomic.write_json(folder / line.page / "trend.json", {"format": FORMAT, **about, "trend": line.trend})
        night = line.trend.nights[-1]
        of_night = {"engine": night.engine.name, "project": night.project.name, "newest": night.started}
        entries.append({**about, **of_night, "trend": f"{line.page}/trend.json"})
    atomic.write_json(folder / "trend.json", {"format": FORMAT, "evaluations": entries})


def _row(line: Line) -> dict[str, object]:
    """Return the table row of an evaluation, for its first metric. `since` is the night on which the level last
    changed; `sign` and `tone` describe that change. All three are empty if the level never changed."""
    trend = line.trend
    info = next(iter(trend.metrics), MetricInfo(name="", summary="", unit="", better="neither"))
    night = trend.nights[-1]
    estimate = night.metrics.get(info.name, NO_ESTIMATE)
    sign, tone, since = "", "", ""
    # The slice is empty if the level never changed.
    for last in trend.changes.get(info.name, ())[-1:]:
        sign, tone = ("·", "") if last.good is None else ("▲", "better") if last.good else ("▼", "worse")
        since = trend.nights[last.night].started[:10]
    return {
        "line": line,
        "night": night,
        "metric": f"{info.name}, {label(trend.headline)}",
        "value": amount(estimate.value, info.unit),
        "between": interval(estimate, info.unit),
        "step": _step(trend, info),
        "sign": sign,
        "tone": tone,
        "since": since,
    }


def _step(trend: Trend, info: MetricInfo) -> str:
    """Return the change since the previous night, or a dash if either night has no value."""
    values = [night.metrics.get(info.name, NO_ESTIMATE).value for night in trend.nights[-2:]]
    known = [value for value in values if value is not None]
    return change(known[1] - known[0], info.unit) if len(known) == 2 else NOTHING


REPORTER: Reporter = Html()
