"""`html/index.html` over several comparisons or a history: the ranking, each against each, and the trend."""

from __future__ import annotations

import shutil
from pathlib import Path

import jinja2

from ci_eval.contracts import OverviewReporter
from ci_eval.model import Overview
from ci_eval.support import atomic
from ci_eval.support.charts import trend_charts
from ci_eval.support.figures import amount, interval
from ci_eval.support.verdicts import SIGNS, TRENDS, WORDS, night_figure, pair_text

TEMPLATES = Path(__file__).parent / "templates"
ASSETS = ("style.css", "comparison.css")


class OverviewHtml:
    """Writes a page that opens from disk and links to those of the comparisons."""

    name = "html"

    def write(self, overview: Overview, folder: Path) -> Path:
        """See OverviewReporter."""
        assets = folder / "html" / "assets"
        assets.mkdir(parents=True, exist_ok=True)
        for asset in ASSETS:
            shutil.copyfile(TEMPLATES / asset, assets / asset)
        templates = jinja2.Environment(
            loader=jinja2.FileSystemLoader(TEMPLATES),
            autoescape=True,
            undefined=jinja2.StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
        )
        templates.globals.update(
            sign=SIGNS, word=WORDS, amount=amount, interval=interval, pair_text=pair_text, figure=night_figure
        )
        trend = overview.trend
        wanted = [*(info.name for info in trend.metrics if info.name not in TRENDS), *TRENDS] if trend else []
        text = templates.get_template("overview_index.html.j2").render(
            overview=overview,
            infos={info.name: info for info in overview.ranking.metrics} if overview.ranking else {},
            charts=trend_charts(trend, wanted) if trend else (),
        )
        return atomic.write(folder / "html" / "index.html", text.encode("utf-8", "backslashreplace"))


REPORTER: OverviewReporter = OverviewHtml()
