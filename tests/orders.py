"""Two ways to compare completion types: in turns, and by a new order of stored suggestions."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from ci_eval.core.catalogs import metrics
from tests.command import command

TIMED = {metric.info.name for metric in metrics.load() if metric.timed}
FIGURES = ("base", "new", "difference", "verdict")


def check_turns(project: Path, folder: Path, kind: str, model: Path | None = None) -> set[str]:
    """Check that `compare-engines` has the verdicts of `rerank` and `compare`; return the verdicts on ranks."""
    common = ("--project", f"path:{project}", "--all", "--jobs", 1)
    by_model, setting = (("--model", model), ("--new-set", f"rankingModel={model}")) if model else ((), ())
    for argv in (
        ("evaluate", "--engine", "words", "--repeat", 2, *common, "--output", folder / "plain"),
        ("rerank", folder / "plain", "--completion-type", kind, *by_model, "--output", folder / "moved"),
        ("compare", folder / "plain", folder / "moved", "--output", folder / "apart"),
        ("compare-engines", "words", "--new-set", f"completionType={kind}", *setting, "--rounds", 2, *common,
         "--output", folder / "pair"),
    ):  # fmt: skip
        code, _, err = command(*argv)
        assert code == 0, err
    apart, in_turns = (_figures(folder / name) for name in ("apart", "pair/comparison"))
    assert in_turns == apart
    return {str(figures["verdict"]) for figures in in_turns.values()}


def _figures(folder: Path) -> dict[tuple[str, str], dict[str, Any]]:
    """Return the differences of all metrics of quality: filter and metric → figures."""
    report = json.loads((folder / "comparison.json").read_text())
    return {
        (name, metric): {key: figures[key] for key in FIGURES}
        for name, part in report["filters"].items()
        for metric, figures in part["metrics"].items()
        if metric not in TIMED and metric not in {"StartUpLatency", "StartCpu", "PeakMemory"}
    }
