"""The catalog of reporters, each of which writes one format of the results it knows."""

from pathlib import Path
from typing import Any

from ci_eval.core.base.catalog import Catalog
from ci_eval.core.model import Evaluation
from ci_eval.core.rendering.reporters import Reporter

CATALOG: Catalog[Reporter] = Catalog("ci_eval.plugins.reports", "REPORTER", group="reports", kind=Reporter)


def write(result: Any, sources: Any, folder: Path) -> dict[str, Path]:
    """Write a result in each format that has it. Return by reporter the file to open first; see `Reporter.write`."""
    return {
        reporter.name: reporter.write(result, sources, folder)
        for reporter in CATALOG.all()
        if isinstance(result, getattr(reporter, "results", Evaluation))
    }
