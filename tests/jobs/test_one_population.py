"""A figure that leads an evaluation is the same in comparisons, gates, rankings, trends and file pages."""

from __future__ import annotations

import json
import re
import shutil
from collections import Counter
from pathlib import Path
from typing import Any

import msgspec
import pytest

from ci_eval.core.rendering.figures import amount
from tests.command import command
from tests.projects import GREETER, write
from tests.tasks.test_method_calls import dataset

__all__ = ["dataset"]

pytestmark = pytest.mark.usefixtures("in_one_process")

TASKS = {
    "ladder": (),
    "user": ("--set", "interpret.userModel={profile: always}"),
    "tokens": ("--task", "tokens"),
    "inline": ("--task", "inline"),
    "method-calls": ("--task", "method-calls"),
}
HEADLINES = {"ladder": "names, Prefix 1", "user": "names", "tokens": "ALL", "inline": "ALL", "method-calls": "ALL"}
MORE = "import os\n\n\nclass Walker:\n    def walk(self, top):\n        return os.listdir(top) if top else None\n"


@pytest.fixture(scope="module", params=TASKS)
def surfaces(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, dataset: Path
) -> tuple[str, Path]:
    """Two evaluations, `base` and `new`; their comparison, the ranking of three, and a trend over two nights."""
    folder = tmp_path_factory.mktemp("surfaces")
    project = write(folder / "p", a__py=GREETER, b__py=MORE + GREETER, c__py=MORE)
    calls = request.param == "method-calls"
    source = ("--dataset", dataset / "histories.jsonl") if calls else ("--project", f"path:{project}")
    for name, engine in (("base", "empty"), ("new", "oracle")):
        common = ("--engine", engine, "--jobs", 1, "--output", folder / name)
        code, _, err = command("evaluate", *TASKS[request.param], *source, *common)
        assert code in {0, 5}, err  # an engine that answers nothing fails the run
    shutil.copytree(folder / "new", folder / "third")
    assert command("compare", folder / "base", folder / "new", "--output", folder / "pair")[0] == 0
    assert command("compare", *(folder / each for each in ("base", "new", "third")), "--output", folder / "all")[0] == 0
    report = json.loads((folder / "new" / "reports" / "metrics.json").read_text())
    report["evaluations"][0]["started"] = "2020-01-01T00:00:00+00:00"
    (folder / "past").mkdir()
    (folder / "past" / "night.json").write_text(json.dumps(report))
    assert command("compare", folder / "new", "--history", folder / "past", "--output", folder / "line")[0] == 0
    return request.param, folder


def evaluation(folder: Path) -> dict[str, Any]:
    (evaluation,) = json.loads((folder / "reports" / "metrics.json").read_text())["evaluations"]
    return dict(evaluation)


def test_every_surface_has_the_same_figure(surfaces: tuple[str, Path]) -> None:
    name, folder = surfaces
    comparison = json.loads((folder / "pair" / "comparison.json").read_text())
    metric, headline = comparison["declared"][0], HEADLINES[name]
    sides = [evaluation(folder / side) for side in ("base", "new")]
    values = [side["filters"][headline]["metrics"][metric]["value"] for side in sides]
    assert {side["headline"] for side in sides} == {comparison["headline"]} == {headline}
    assert set(sides[0]["filters"]) == set(comparison["filters"])
    row = comparison["filters"][headline]["metrics"][metric]
    assert [row["base"], row["new"]] == pytest.approx(values)
    assert values[0] != values[1]
    ranking = json.loads((folder / "all" / "overview.json").read_text())["ranking"]
    assert ranking["figures"][0][metric]["value"] == pytest.approx(max(values))
    trend = json.loads((folder / "line" / "overview.json").read_text())["trend"]
    assert [night["metrics"][metric]["value"] for night in trend["nights"]] == pytest.approx([values[1]] * 2)
    assert {ranking["headline"], trend["headline"]} == {headline}


def test_a_gate_judges_the_figure_that_leads(surfaces: tuple[str, Path], tmp_path: Path) -> None:
    _, folder = surfaces
    comparison = json.loads((folder / "pair" / "comparison.json").read_text())
    metric = comparison["declared"][0]
    (info,) = [each for each in msgspec.json.decode(metrics_of()) if each["name"] == metric]
    rule = f"{metric} >= 0{'%' * (info['unit'] == 'share')}"
    where = ("--output", tmp_path / "out", "--gate", rule)
    _, out, _ = command("compare", folder / "base", folder / "new", *where)
    new = comparison["filters"][comparison["headline"]]["metrics"][metric]["new"]
    assert f"{metric} is {amount(new, info['unit'])}" in " ".join(out.split())


def metrics_of() -> str:
    code, out, err = command("list", "metrics", "--format", "json")
    assert code == 0, err
    return out


def test_the_pages_of_files_count_the_sessions_that_lead(surfaces: tuple[str, Path]) -> None:
    name, folder = surfaces
    figures = evaluation(folder / "new")["filters"][HEADLINES[name]]
    counts = Counter[str]()
    for page in (folder / "new" / "reports" / "html" / "files").glob("*.html"):
        for outcome, count in re.findall(r'class="t (\w+)"[^>]*>ab</span> <b>([\d,]+)</b>', page.read_text()):
            counts[outcome] += int(count.replace(",", ""))
    assert counts.total() - counts["skipped"] == figures["sessions"] > 0
    assert sum(each["sessions"] for each in figures["files"].values()) == figures["sessions"]
    if name == "ladder":
        of_files = sum(each["sessions"] * each["metrics"]["RecallAt1"] for each in figures["files"].values())
        assert of_files / figures["sessions"] == pytest.approx(figures["metrics"]["RecallAt1"]["value"])
        assert counts["first"] == figures["ranks"]["1"]
