"""The file `suite.json`: the figures of a suite for scripts."""

from __future__ import annotations

from pathlib import Path

import msgspec

from ci_eval.core.base import atomic
from ci_eval.core.model import FORMAT, Suite
from ci_eval.core.rendering.contract import SuiteReporter


class SuiteJson:
    """A reporter that writes {"format": 1, …} with the fields of Suite."""

    name = "json"

    def write(self, suite: Suite, folder: Path) -> Path:
        """Write suite.json below `folder`; see `SuiteReporter.write`."""
        report = {"format": FORMAT, **msgspec.to_builtins(suite)}
        return atomic.write(folder / "suite.json", msgspec.json.format(msgspec.json.encode(report)) + b"\n")


REPORTER: SuiteReporter = SuiteJson()
