"""`comparison.json`: every figure of a comparison for scripts, in the documented format 1."""

from __future__ import annotations

from pathlib import Path

import msgspec

from ci_eval import atomic
from ci_eval.model import FORMAT, Comparison
from ci_eval.rendering.contract import ComparisonReporter, PairedSessions


class ComparisonJson:
    """Writes comparison.json; a figure that does not exist is null."""

    name = "json"

    def write(self, comparison: Comparison, sources: PairedSessions, folder: Path) -> Path:  # noqa: ARG002
        """See ComparisonReporter."""
        found = comparison
        report = {
            "format": FORMAT,
            "base": found.base.title,
            "new": found.new.title,
            "sides": {"base": found.base, "new": found.new},
            "paired": found.paired,
            "population": found.population,
            "onlyBase": found.only_base,
            "onlyNew": found.only_new,
            "changedText": found.changed_text,
            "files": found.files,
            "declared": found.declared,
            "wins": found.wins,
            "losses": found.losses,
            "headline": found.headline,
            "filters": {
                name: {"sessions": counts.sessions, "wins": counts.wins, "losses": counts.losses, "metrics": metrics}
                for name, metrics in found.filters.items()
                for counts in [found.counts[name]]
            },
            "parts": found.parts,
            "transitions": found.transitions,
            "regressions": found.regressions,
            "improvements": found.improvements,
            "warnings": found.warnings,
            "conditions": found.conditions,
            "gates": found.gates,
            **({"failures": found.failures} if found.failures else {}),
            **({"detection": found.detection} if found.detection else {}),
            "trend": found.trend,
        }
        # msgspec writes NaN and infinities as null.
        text = msgspec.json.format(msgspec.json.encode(report), indent=2)
        return atomic.write(folder / "comparison.json", text + b"\n")


REPORTER: ComparisonReporter = ComparisonJson()
