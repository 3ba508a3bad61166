"""The file `report.md` of a suite: one table."""

from __future__ import annotations

from pathlib import Path

from ci_eval.core.base import atomic
from ci_eval.core.model import Suite
from ci_eval.core.rendering.contract import SuiteReporter
from ci_eval.core.rendering.markdowntext import prose, table
from ci_eval.core.rendering.suites import OVERALL, cell, overall_cell, populations
from ci_eval.core.rendering.sweeping import together


class SuiteMarkdown:
    """A reporter that writes report.md for GitHub."""

    name = "markdown"

    def write(self, suite: Suite, folder: Path) -> Path:
        """Write report.md below `folder`; see `SuiteReporter.write`."""
        rows = [
            [
                prose(f"{suite_project.project.name} {suite_project.project.revision}"),
                f"{suite_project.sessions:,}",
                *(prose(together(cell(suite_project, info))) for info in suite.metrics),
            ]
            for suite_project in suite.projects
        ]
        rows.append([OVERALL, "", *(prose(together(overall_cell(suite, info))) for info in suite.metrics)])
        columns = ["project", ">sessions", *(f">{info.name}" for info in suite.metrics)]
        troubles = [
            f"- {prose(f'{suite_project.project.name}: {suite_project.trouble}')}"
            for suite_project in suite.projects
            if suite_project.trouble
        ]
        parts = [f"# {prose(suite.title)}", *populations(suite), table("", columns, rows), "\n".join(troubles)]
        return atomic.write(
            folder / "report.md", "\n\n".join(filter(None, parts)).encode("utf-8", "backslashreplace") + b"\n"
        )


REPORTER: SuiteReporter = SuiteMarkdown()
