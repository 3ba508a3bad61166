"""The file `comparison.json`: every figure of a comparison for scripts, in the documented format 1."""

from __future__ import annotations

from pathlib import Path

import msgspec

from ci_eval.core.base import atomic
from ci_eval.core.model import FORMAT, Comparison
from ci_eval.core.rendering.contract import ComparisonReporter, PairedSessions


class ComparisonJson:
    """A reporter that writes comparison.json; a figure that does not exist is null."""

    name = "json"

    def write(self, comparison: Comparison, sources: PairedSessions, folder: Path) -> Path:  # noqa: ARG002
        """Write comparison.json below `folder`; see `ComparisonReporter.write`."""
        result = comparison
        report = {
            "format": FORMAT,
            "base": result.base.title,
            "new": result.new.title,
            "sides": {"base": result.base, "new": result.new},
            "paired": result.paired,
            "population": result.population,
            "onlyBase": result.only_base,
            "onlyNew": result.only_new,
            "changedText": result.changed_text,
            "files": result.files,
            "declared": result.declared,
            "wins": result.wins,
            "losses": result.losses,
            "headline": result.headline,
            "filters": {
                name: {"sessions": counts.sessions, "wins": counts.wins, "losses": counts.losses, "metrics": metrics}
                for name, metrics in result.filters.items()
                for counts in [result.counts[name]]
            },
            "parts": result.parts,
            "transitions": result.transitions,
            "regressions": result.regressions,
            "improvements": result.improvements,
            "warnings": result.warnings,
            "conditions": result.conditions,
            "gates": result.gates,
            **({"failures": result.failures} if result.failures else {}),
            **({"detection": result.detection} if result.detection else {}),
            "trend": result.trend,
        }
        # msgspec writes NaN and infinities as null.
        text = msgspec.json.format(msgspec.json.encode(report), indent=2)
        return atomic.write(folder / "comparison.json", text + b"\n")


REPORTER: ComparisonReporter = ComparisonJson()
