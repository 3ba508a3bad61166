"""The file `report.md` of each result, for GitHub: short enough for a job summary or a comment."""

from __future__ import annotations

from pathlib import Path

from ci_eval.core.base import atomic
from ci_eval.core.model import Comparison, Evaluation, Overview, Suite, Sweep
from ci_eval.core.rendering.blocks import to_markdown
from ci_eval.core.rendering.contract import Reporter
from ci_eval.core.rendering.results import small_blocks
from ci_eval.plugins.reports.markdown.comparison import write_comparison
from ci_eval.plugins.reports.markdown.evaluation import write_evaluation


class Markdown:
    """A reporter that writes report.md. Text from outside is always shown as code."""

    name = "markdown"
    results = (Evaluation, Comparison, Overview, Sweep, Suite)

    def write(self, result: Evaluation | Comparison | Overview | Sweep | Suite, sources: object, folder: Path) -> Path:  # noqa: ARG002
        """Write report.md below `folder`; see `Reporter.write`."""
        match result:
            case Evaluation():
                text = write_evaluation(result)
            case Comparison():
                text = write_comparison(result)
            case _:
                text = f"{to_markdown(small_blocks(result))}\n"
        return atomic.write(folder / "report.md", text.encode("utf-8", "backslashreplace"))


REPORTER: Reporter = Markdown()
