"""The pages of sweeps, suites, rankings and histories, each of one document."""

from __future__ import annotations

from pathlib import Path

from ci_eval.core.model import Overview, Suite, Sweep
from ci_eval.core.model.units import TRENDS
from ci_eval.core.rendering.charts import ranking_charts, sweep_charts, trend_charts
from ci_eval.core.rendering.htmlsite import COMMON, HtmlSite, report_link
from ci_eval.core.rendering.results import change_lines, name_trends, small_blocks
from ci_eval.core.rendering.verdicts import night_figure

TEMPLATES = Path(__file__).parents[1] / "templates"


def write_page(result: Overview | Sweep | Suite, partial: Path, folder: Path) -> None:
    """Write the page to `partial`, which becomes a folder in `folder`."""
    title, heading, links = result.title, "", []
    if isinstance(result, Sweep):
        title, charts = f"Sweep of {', '.join(result.keys)}", sweep_charts(result)
    elif isinstance(result, Suite):
        heading, charts = f"on {len(result.projects)} projects", []
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
