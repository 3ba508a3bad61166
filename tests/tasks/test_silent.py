"""The share of places for something new at which nothing is in the way."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.command import command
from tests.here import one_process
from tests.projects import write

SERVER = Path(__file__).parents[1] / "jobs" / "misses" / "planted.py"
TEXT = "def quiet(data, host):\n    # the word here\n    return 12, 'two long words'\n\n\nclass Text:\n    pass\n"
PLACES = "places: {silent: [definition, number, comment, string]}"


def evaluate(project: Path, output: Path, *engine: str) -> dict[str, Any]:
    with one_process():
        code, _, err = command(
            "evaluate", "--project", f"path:{project}", *engine, "--set", f"actions.strategy={{{PLACES}}}", "--jobs", 1,
            "--all", "--output", output,
        )  # fmt: skip
    assert code == 0, err
    (run,) = json.loads((output / "reports" / "metrics.json").read_text())["evaluations"]
    figures: dict[str, Any] = run["filters"]["ALL"]
    return figures


def test_a_place_is_loud_if_something_begins_as_typed(tmp_path: Path) -> None:
    figures = evaluate(
        write(tmp_path / "p", a__py=TEXT), tmp_path / "w", "--engine-command", f"{sys.executable} {SERVER} none"
    )
    # The server knows names with d (data) and t (Text), none with q, h, w (word), 1, l (long).
    assert figures["sessions"] == 7
    assert figures["metrics"]["SilentShare"]["value"] == pytest.approx(5 / 7)
    assert "RecallAt1" not in figures["metrics"]


def test_the_controls_have_the_ends_and_jedi_is_between(tmp_path: Path) -> None:
    project = write(tmp_path / "p", a__py=TEXT)
    shares = {
        engine: evaluate(project, tmp_path / engine, "--engine", engine)["metrics"]["SilentShare"]["value"]
        for engine in ("empty", "oracle", "jedi")
    }
    assert (shares["empty"], shares["oracle"]) == (1.0, 0.0)
    assert 0.5 < shares["jedi"] < 1.0


@pytest.mark.parametrize("setting", ["task=golf", "actions.strategy.imports=removed"])
def test_another_task_has_no_such_places(setting: str, tmp_path: Path) -> None:
    options = ("--set", f"actions.strategy.{PLACES.replace(': ', '=', 1)}", "--set", setting)
    code, _, err = command("actions", "--project", f"path:{tmp_path}", *options, "--output", tmp_path / "w")
    assert (code, "selects the task silent, but another task is configured" in " ".join(err.split())) == (2, True), err
