"""Figures for actions that draw trends of benchmarks."""

from __future__ import annotations

import json
from pathlib import Path

from ci_eval.rendering.figures import TO
from ci_eval.reporters.benchmark import REPORTER
from tests.reporters.samples import small


def test_more_is_better_in_one_file_and_less_in_the_other(tmp_path: Path) -> None:
    small().write(REPORTER, tmp_path)
    quality, latency = (
        json.loads((tmp_path / f"benchmark-{name}.json").read_text()) for name in ("quality", "latency")
    )
    assert {"name": "jedi on stack: RecallAt1", "unit": "share", "value": 0.612, "range": f"58.1{TO}63.6%"} in quality
    assert {each["name"].rpartition(": ")[2] for each in latency} == {
        "MeanRank",
        "LatencyPercentile50",
        "LatencyPercentile95",
    }
    assert not {each["name"] for each in quality} & {each["name"] for each in latency}
