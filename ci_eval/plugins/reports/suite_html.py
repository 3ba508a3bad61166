"""The page `html/index.html` of a suite: the table, in which each row leads to the report of its project."""

from __future__ import annotations

from pathlib import Path

from ci_eval.core.model import Suite
from ci_eval.core.rendering.contract import SuiteReporter
from ci_eval.core.rendering.htmlsite import COMMON, HtmlSite, replace_folder
from ci_eval.core.rendering.suites import OVERALL, cell, overall_cell, populations
from ci_eval.core.rendering.verdicts import SIGNS, WORDS

TEMPLATES = Path(__file__).parent / "templates"
ASSETS = (*COMMON, "comparison.css", "sorting.js")


class SuiteHtml:
    """A reporter that writes a page which opens from disk and links to those of the projects."""

    name = "html"

    def write(self, suite: Suite, folder: Path) -> Path:
        """Write the folder `html`; see `SuiteReporter.write`."""
        with replace_folder(folder / "html") as partial:
            site = HtmlSite(partial, TEMPLATES, cell=cell, overall_cell=overall_cell, sign=SIGNS, word=WORDS)
            site.assets(ASSETS)
            # A comparison's reports are directly in its folder, an evaluation's below `reports`.
            below = "html" if suite.compared else "reports/html"
            site.render(
                "suite_index.html.j2",
                "index.html",
                suite=suite,
                below=below,
                overall_name=OVERALL,
                populations=populations(suite),
            )
        return folder / "html" / "index.html"


REPORTER: SuiteReporter = SuiteHtml()
