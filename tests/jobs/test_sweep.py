"""Sweeps: the same sessions with other values, one table, and resumed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from ci_eval.core.base.errors import ConfigError
from ci_eval.jobs.sweep import expand_axes, spell
from tests.command import command
from tests.projects import GREETER, timeless, write

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("file_in_one_process")]

CONFIG = """
task: tokens
engine: {name: ngram}
comparison: {metrics: [GradedReciprocalRank, RecallAt1]}
"""
ORDERS = ("--vary", "engine.options.order=1,3")


def sweep(folder: Path, *arguments: object, output: str = "out", code: int = 0) -> tuple[Path, str]:
    if not (folder / "p").exists():
        write(folder / "p", a__py=GREETER, b__py=GREETER.replace("name", "label"), c__py="import os\nprint(os.sep)\n")
        (folder / "c.yaml").write_text(CONFIG)
    given = ("--project", f"path:{folder / 'p'}", "--jobs", 1, "--output", folder / output)
    ended, out, said = command("sweep", folder / "c.yaml", *given, *arguments)
    assert ended == code, said
    return folder / output, out if code == 0 else said


def stored(folder: Path) -> dict[str, Any]:
    axes: dict[str, Any] = json.loads((folder / "sweep.json").read_text())
    return axes


def test_each_value_is_combined_with_each() -> None:
    axes = expand_axes(["a.b=1,2", "c=[x],[x, y]"])
    assert axes == [
        {"a.b": "1", "c": '["x"]'},
        {"a.b": "1", "c": '["x","y"]'},
        {"a.b": "2", "c": '["x"]'},
        {"a.b": "2", "c": '["x","y"]'},
    ]
    assert spell(axes[1]) == 'b 1, c ["x","y"]'


@pytest.mark.parametrize(
    ("varied", "said"),
    [
        (["a"], "expected key=VALUE"),
        (["=1,2"], "expected key=VALUE"),
        (["a="], "expected key=VALUE"),
        (["a=1,1"], "given twice"),
        (["a=1", "a=2"], "names a key twice"),
        ([f"a={','.join(map(str, range(300)))}"], "at most 200"),
        (["a=[1"], "--vary"),
    ],
)
def test_what_cannot_be_varied_is_said(varied: list[str], said: str) -> None:
    with pytest.raises(ConfigError, match=said):
        expand_axes(varied)


def test_one_table_has_all_variants_each_against_the_first(tmp_path: Path) -> None:
    folder, out = sweep(tmp_path, *ORDERS)
    axes = stored(folder)
    assert [each["values"] for each in axes["runs"]] == [["1"], ["3"]]
    first, second = axes["runs"]
    assert (first["sessions"], first["differences"]) == (second["sessions"], {})
    assert second["differences"]["RecallAt1"]["base"] == first["figures"]["RecallAt1"]["value"]
    assert second["differences"]["RecallAt1"]["verdict"] == "better"
    table = (folder / "report.md").read_text()
    assert "| `engine.options.order` | sessions | GradedReciprocalRank | from the first |" in table
    page = (folder / "html" / "index.html").read_text()
    assert page.count("<svg") == 2
    assert (folder / "html" / second["comparison"]).exists() or f"../{second['comparison']}/html/index.html" in page
    assert out.splitlines()[-1] == str(folder)
    for text in (table, page, out):
        assert "▲ BETTER order=3 than order=1" in " ".join(text.split())
    assert "1 better · 0 worse of 1 other run" in out


def test_a_sweep_without_a_better_run_says_so(tmp_path: Path) -> None:
    _, out = sweep(tmp_path, "--vary", "engine.options.order=3,1")
    assert "? NO BETTER RUN   none is shown to be better than the first, order=3, in this project" in out


def test_a_sweep_that_was_interrupted_is_taken_up(tmp_path: Path) -> None:
    folder, _ = sweep(tmp_path, *ORDERS)
    expected, kept = stored(folder), timeless(folder / "02-order-3")
    (folder / "sweep.json").unlink()
    (folder / "02-order-3" / "manifest.json").unlink()
    for path in sorted((folder / "02-order-3").rglob("*"), reverse=True):
        path.unlink() if path.is_file() else path.rmdir()
    sweep(tmp_path, *ORDERS, "--resume")
    assert stored(folder)["runs"][1]["figures"] == expected["runs"][1]["figures"]
    assert timeless(folder / "02-order-3") == kept


def test_what_cannot_be_compared_says_why(tmp_path: Path) -> None:
    folder, _ = sweep(tmp_path, "--vary", "actions.strategy.context=ALL,LEFT")
    assert "strategy" in stored(folder)["runs"][1]["why"]


def test_the_engine_of_the_command_line_keeps_what_is_varied_below_it(tmp_path: Path) -> None:
    folder, _ = sweep(tmp_path, "--engine", "frequency", "--vary", "engine.options.limit=1,2")
    assert stored(folder)["runs"][0]["figures"]["RecallAt1"]["value"] is not None
    assert "frequency" in (folder / "02-limit-2" / "reports" / "report.md").read_text()


def test_a_wrong_value_is_refused_before_anything_is_evaluated(tmp_path: Path) -> None:
    folder, said = sweep(tmp_path, "--vary", "engine.options.order=1,none", code=2)
    assert "order" in said
    assert not folder.exists() or not list(folder.glob("0*"))
