"""The page `html/index.html` of a sweep: the table, and a chart for each metric."""

from __future__ import annotations

from pathlib import Path

from ci_eval.core.model import Sweep
from ci_eval.core.rendering.contract import SweepReporter
from ci_eval.core.rendering.htmlsite import COMMON, HtmlSite, replace_folder
from ci_eval.core.rendering.sweeping import difference_texts, figure_texts, held_out_text, sweep_charts

TEMPLATES = Path(__file__).parent / "templates"
ASSETS = (*COMMON, "comparison.css")


class SweepHtml:
    """A reporter that writes a page which opens from disk and links to those of the evaluations and comparisons."""

    name = "html"

    def write(self, sweep: Sweep, folder: Path) -> Path:
        """Write the folder `html`; see `SweepReporter.write`."""
        with replace_folder(folder / "html") as partial:
            site = HtmlSite(partial, TEMPLATES, figure_texts=figure_texts, difference_texts=difference_texts)
            site.assets(ASSETS)
            site.render(
                "sweep_index.html.j2",
                "index.html",
                sweep=sweep,
                charts=sweep_charts(sweep),
                held_out=held_out_text(sweep),
            )
        return folder / "html" / "index.html"


REPORTER: SweepReporter = SweepHtml()
