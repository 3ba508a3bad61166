"""The file `sweep.json`: the figures of a sweep for scripts."""

from __future__ import annotations

from pathlib import Path

import msgspec

from ci_eval.core.base import atomic
from ci_eval.core.model import FORMAT, Sweep
from ci_eval.core.rendering.contract import SweepReporter


class SweepJson:
    """A reporter that writes {"format": 1, …} with the fields of Sweep."""

    name = "json"

    def write(self, sweep: Sweep, folder: Path) -> Path:
        """Write sweep.json below `folder`; see `SweepReporter.write`."""
        report = {"format": FORMAT, **msgspec.to_builtins(sweep)}
        return atomic.write(folder / "sweep.json", msgspec.json.format(msgspec.json.encode(report)) + b"\n")


REPORTER: SweepReporter = SweepJson()
