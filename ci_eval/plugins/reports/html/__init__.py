"""The pages `html/index.html` of each result, which open from disk, without a network."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ci_eval.core.model import Comparison, Evaluation, Lines, Overview, Suite, Sweep
from ci_eval.core.rendering.contract import Reporter
from ci_eval.core.rendering.htmlsite import replace_folder
from ci_eval.plugins.reports.html.comparison import ComparisonPages
from ci_eval.plugins.reports.html.evaluation import Pages
from ci_eval.plugins.reports.html.site import write_site
from ci_eval.plugins.reports.html.small import write_page


class Html:
    """A reporter that writes a folder of pages, also for frames and phones."""

    name = "html"
    results = (Evaluation, Comparison, Overview, Sweep, Suite, Lines)

    def write(
        self,
        result: Evaluation | Comparison | Overview | Sweep | Suite | Lines,
        sources: Any,
        folder: Path,
    ) -> Path:
        """Write the folder `html`, or of a site `folder` itself; see `Reporter.write`."""
        target = folder if isinstance(result, Lines) else folder / "html"
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


REPORTER: Reporter = Html()
