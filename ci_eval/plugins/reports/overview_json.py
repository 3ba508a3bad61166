"""The file `overview.json`: the ranking and the trend for scripts, in format 1."""

from __future__ import annotations

from pathlib import Path

import msgspec

from ci_eval.core.base import atomic
from ci_eval.core.model import FORMAT, Overview
from ci_eval.core.rendering.contract import OverviewReporter


class OverviewJson:
    """A reporter that writes overview.json; a figure that does not exist is null."""

    name = "json"

    def write(self, overview: Overview, folder: Path) -> Path:
        """Write overview.json below `folder`; see `OverviewReporter.write`."""
        report = {
            "format": FORMAT,
            "title": overview.title,
            "ranking": overview.ranking,
            "trend": overview.trend,
            "trends": overview.trends,
            "comparisons": overview.comparisons,
            "workspaces": overview.workspaces,
        }
        # msgspec writes NaN and infinities as null.
        text = msgspec.json.format(msgspec.json.encode(report), indent=2)
        return atomic.write(folder / "overview.json", text + b"\n")


REPORTER: OverviewReporter = OverviewJson()
