"""The best run of a sweep in files that did not choose it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from ci_eval.jobs.sweep import split_files
from tests.jobs.test_sweep import ORDERS, stored, sweep

PATHS = [f"{name}.py" for name in "abcdefg"]


def test_a_random_half_of_the_files_chooses() -> None:
    choosing, others = split_files(PATHS, 1)
    assert (len(choosing), len(others)) == (4, 3)
    assert choosing | others == set(PATHS)
    assert split_files(PATHS[::-1], 1) == (choosing, others)
    assert len({split_files(PATHS, seed) for seed in range(20)}) > 10


def files_of(run: Path) -> dict[str, Any]:
    evaluation = json.loads((run / "reports" / "metrics.json").read_text())["evaluations"][0]
    files: dict[str, Any] = evaluation["filters"][evaluation["headline"]]["files"]
    return files


def recall(files: dict[str, Any], paths: frozenset[str]) -> float:
    """Return RecallAt1 over the sessions of these files."""
    pairs = [(files[path]["sessions"], files[path]["metrics"]["RecallAt1"]) for path in paths]
    return float(sum(sessions * figure for sessions, figure in pairs) / sum(sessions for sessions, _ in pairs))


@pytest.mark.slow
def test_the_best_run_of_one_half_is_reported_in_the_other(tmp_path: Path) -> None:
    only = ("--set", "comparison.metrics=[RecallAt1]")
    folder, out = sweep(tmp_path, *ORDERS, *only, "--hold-out", "--seed", 3)
    held = stored(folder)["heldOut"]
    runs = [files_of(folder / run["workspace"]) for run in stored(folder)["runs"]]
    choosing, others = split_files(list(runs[0]), 3)
    figures = [recall(files, choosing) for files in runs]
    assert held["choosing"] == pytest.approx(figures)
    assert held["winner"] == figures.index(max(figures))
    assert held["figures"]["RecallAt1"]["value"] == pytest.approx(recall(runs[held["winner"]], others))
    assert held["first"]["RecallAt1"]["value"] == pytest.approx(recall(runs[0], others))
    assert (held["choosingFiles"], held["files"]) == (len(choosing), len(others))
    assert held["sessions"] == sum(runs[0][path]["sessions"] for path in others)
    sentence = f"RecallAt1 is best for {stored(folder)['runs'][held['winner']]['values'][0]} in 2 files"
    for text in (out, (folder / "report.md").read_text(), (folder / "html" / "index.html").read_text()):
        assert sentence in " ".join(text.split())


@pytest.mark.slow
def test_one_file_cannot_be_held_out(tmp_path: Path) -> None:
    folder, _ = sweep(tmp_path, *ORDERS, "--hold-out", "--set", "actions.evaluationRoots=[a.py]")
    assert stored(folder)["heldOut"] is None
