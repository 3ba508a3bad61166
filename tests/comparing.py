"""The job `compare`, and nights of a history."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tests.command import command as run


def compare(base: Path, new: Path, output: Path, *more: object) -> tuple[int, dict[str, Any], str]:
    """Exit code, `comparison.json` where there is one, and what was printed."""
    code, out, err = run("compare", base, new, "--output", output, *more)
    report = output / "comparison.json"
    return code, json.loads(report.read_text()) if report.exists() else {}, out + err


def aged(night: Path, folder: Path, day: int, **changes: float) -> Path:
    """A night as it would have been on that day, with other figures."""
    report = json.loads((night / "reports" / "metrics.json").read_text())
    (evaluation,) = report["evaluations"]
    evaluation["started"] = f"2020-01-{day:02}T03:00:00+00:00"
    for name, value in changes.items():
        evaluation["filters"][evaluation["headline"]]["metrics"][name]["value"] = value
    folder.mkdir(exist_ok=True)
    path = folder / f"night{day}.json"
    path.write_text(json.dumps(report))
    return path
