"""A figure that leads an evaluation is the same in comparisons, gates, rankings, trends, file pages and lists."""

from __future__ import annotations

import json
import re
import shutil
import zlib
from base64 import b64decode
from collections import Counter
from pathlib import Path
from typing import Any
from urllib.parse import quote

import msgspec
import pytest

from ci_eval.core.model.units import amount
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
    drawn = sum((tokens_drawn(page) for page in pages_of_files(folder / "new" / "reports")), Counter[str]())
    heads = [re.findall(r"<dt>Sessions</dt><dd>([\d,]+)", page) for page in pages_of_files(folder / "new" / "reports")]
    assert sum(int(head.replace(",", "")) for (head,) in heads) == figures["sessions"] > 0
    assert sum(each["sessions"] for each in figures["files"].values()) == figures["sessions"]
    if name == "ladder":
        of_files = sum(each["sessions"] * each["metrics"]["RecallAt1"] for each in figures["files"].values())
        assert of_files / figures["sessions"] == pytest.approx(figures["metrics"]["RecallAt1"]["value"])
        # Each token has one session of the headline here.
        assert drawn["first"] == figures["ranks"]["1"]


def pages_of_files(reports: Path) -> list[str]:
    return [page.read_text() for page in sorted((reports / "html" / "files").glob("*.html"))]


def tokens_drawn(page: str) -> Counter[str]:
    """The tokens of a file by colour; the legend has the same numbers."""
    drawn = Counter(re.findall(r'<span class="t (\w+)" data-at=', page))
    legend = re.findall(r'class="t (\w+)"[^>]*>ab</span> <b>([\d,]+)</b>', page)
    assert drawn == Counter({outcome: int(count.replace(",", "")) for outcome, count in legend if outcome != "unasked"})
    return drawn


def test_the_list_that_the_first_page_links_to_has_the_sessions_that_lead(surfaces: tuple[str, Path]) -> None:
    name, folder = surfaces
    headline, figures = HEADLINES[name], evaluation(folder / "new")["filters"][HEADLINES[name]]
    index = (folder / "new" / "reports" / "html" / "index.html").read_text()
    assert f'"sessions.html{"" if headline == "ALL" else "#filter=" + quote(headline)}">list the sessions' in index
    for html, side in (("new/reports/html", 0), ("pair/html", 1)):
        table = listed(folder / html / "sessions-data.js")
        number = [own for own, _ in table["filters"]].index(headline)
        rows = [row for row, of in enumerate(table["columns"]["filters"]) if number in table["combinations"][of]]
        assert len(rows) == figures["sessions"]
        seen = [table["observed"][table["went"][side]["observed"][0][row]] for row in rows]
        pairs = [pair for each in seen for pair in each]
        above, below = sum(value for value, _ in pairs), sum(weight for _, weight in pairs)
        assert above / below == pytest.approx(figures["metrics"][table["metrics"][0]["name"]]["value"])


def listed(script: Path) -> dict[str, Any]:
    (packed,) = re.findall(r'ciEval\.table\("([^"]+)"\)', script.read_text())
    return dict(json.loads(zlib.decompress(b64decode(packed))))


def test_a_report_of_a_filter_counts_the_sessions_of_the_filter(surfaces: tuple[str, Path], tmp_path: Path) -> None:
    _, folder = surfaces
    shutil.copytree(folder / "new", tmp_path / "w")
    code, out, err = command("report", tmp_path / "w", "--filter", "text='[a-m]*'")
    assert code in {0, 5}, err
    made = evaluation(tmp_path / "w")
    figures, whole = made["filters"][made["headline"]], made["filters"]["ALL"]
    counts = [(of["sessions"], of["planned"]) for of in (figures, whole)]
    both = r"(\d+) of (\d+) sessions evaluated .*the whole run: (\d+) of (\d+) sessions"
    head = re.search(both, " ".join(out.split()))
    assert head is None or [*map(int, head.groups())] == [number for pair in counts for number in pair]
    assert (head is None) == (counts[0] == counts[1])
    lines = re.findall(r"^(?:sessions |whole run) (.*)", out, re.MULTILINE)
    sums = [sum(map(int, re.findall(r"\d+", line))) for line in lines]
    assert sums == [planned for _, planned in dict.fromkeys(counts)]
    for page in pages_of_files(tmp_path / "w" / "reports"):
        assert (tokens_drawn(page).total() > 0) == ("data-at=" in page)


def test_a_pair_has_one_verdict_in_its_comparison_and_in_the_ranking(surfaces: tuple[str, Path]) -> None:
    _, folder = surfaces
    ranking = json.loads((folder / "all" / "overview.json").read_text())["ranking"]
    for path in (folder / "all").glob("0*/comparison.json"):
        pair = json.loads(path.read_text())
        names = [pair["sides"][side]["workspace"] for side in ("new", "base")]
        row, column = (ranking["order"].index(("base", "new", "third").index(name)) for name in names)
        for metric in ranking["declared"]:
            own = pair["filters"][ranking["headline"]]["metrics"][metric]
            shown = ranking["pairs"][metric][row][column]
            assert {key: shown[key] for key in KEYS} == {key: own[key] for key in KEYS}


KEYS = ("base", "new", "difference", "low", "high", "p", "verdict")
