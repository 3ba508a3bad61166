"""The page `html/index.html` over several comparisons or a history: the ranking, the table of pairs, and the trend."""

from __future__ import annotations

from pathlib import Path

from ci_eval.core.model import Overview
from ci_eval.core.rendering.charts import ranking_charts, trend_charts
from ci_eval.core.rendering.contract import OverviewReporter
from ci_eval.core.rendering.figures import amount, intervals
from ci_eval.core.rendering.htmlsite import COMMON, HtmlSite, replace_folder, report_link
from ci_eval.core.rendering.trendtext import change_lines, name_trends
from ci_eval.core.rendering.verdicts import PAIRS_JUDGED, SIGNS, TRENDS, WORDS, night_figure, pair_text, places

TEMPLATES = Path(__file__).parent / "templates"
ASSETS = (*COMMON, "comparison.css", "sorting.js")


class OverviewHtml:
    """A reporter that writes a page which opens from disk and links to those of the comparisons."""

    name = "html"

    def write(self, overview: Overview, folder: Path) -> Path:
        """Write the folder `html`; see `OverviewReporter.write`."""
        trend = overview.trend or next(iter(overview.trends), None)
        metrics = [*(info.name for info in trend.metrics if info.name not in TRENDS), *TRENDS] if trend else []
        names = name_trends(overview)
        charts = (
            trend_charts(overview.trend, metrics) if overview.trend else ranking_charts(overview.trends, names, metrics)
        )
        with replace_folder(folder / "html") as partial:
            site = HtmlSite(
                partial,
                TEMPLATES,
                sign=SIGNS,
                word=WORDS,
                amount=amount,
                intervals=intervals,
                pair_text=pair_text,
                figure=night_figure,
                changes=lambda trend: list(change_lines(trend)),
            )
            site.assets(ASSETS)
            site.render(
                "overview_index.html.j2",
                "index.html",
                overview=overview,
                runs=[report_link(folder / workspace, folder / "html") for workspace in overview.workspaces],
                places=places(overview.ranking.ahead, overview.ranking.behind) if overview.ranking else (),
                infos={info.name: info for info in overview.ranking.metrics} if overview.ranking else {},
                names=names,
                judged=PAIRS_JUDGED,
                charts=charts,
            )
        return folder / "html" / "index.html"


REPORTER: OverviewReporter = OverviewHtml()
