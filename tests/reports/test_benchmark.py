"""Figures for actions that draw trends of benchmarks."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ci_eval.core.model.units import TO
from ci_eval.plugins.reports.benchmark import REPORTER, plain_title
from tests.reports.samples import small


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


@pytest.mark.parametrize(
    ("title", "plain"),
    [
        ("jedi 0.19.2 BASIC", "jedi 0.19.2 BASIC"),
        ("Größe: C++ (a/b) 50%, it's_so", "Größe: C++ (a/b) 50%, it's_so"),
        ("@team/all fixes #12", "team/all fixes 12"),
        ("<img src=x onerror=alert(1)>", "img src=x onerror=alert(1)"),
        ("[click](https://evil.example)", "click (https: evil.example)"),
        ("![x](HTTP://evil) www.evil.example", "x (HTTP: evil) evil.example"),
        ("a\n\n# heading\r| `b` *c* &#64;d", "a # heading b c 64;d"),
        ("\u202eevil\u200b\x1b[31m", "evil 31m"),
        ("x" * 1000, "x" * 200),
    ],
)
def test_nothing_of_a_title_is_active(title: str, plain: str) -> None:
    assert plain_title(title) == plain
