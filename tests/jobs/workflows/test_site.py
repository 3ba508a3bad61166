"""The job `site` over made-up histories, and what `compare` keeps for it."""

from __future__ import annotations

import json
import os
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.command import command
from tests.histories import NASTY, night
from tests.projects import GREETER, write


def site(output: Path, *histories: Path) -> tuple[int, str]:
    code, _, said = command("site", *histories, "--output", output)
    return code, " ".join(said.split())


def lines(made: Path) -> list[dict[str, Any]]:
    """The figures of every evaluation on a site."""
    listed = json.loads((made / "trend.json").read_text())["evaluations"]
    return [json.loads((made / each["trend"]).read_text()) for each in listed]


def test_each_evaluation_has_a_row_a_page_and_its_figures(tmp_path: Path) -> None:
    for name, engine in (("python-jedi-basic", "jedi"), ("python-words-basic", "words")):
        for day in (1, 2):
            night(tmp_path / "histories" / name, day, engine=engine)
    assert site(tmp_path / "site", tmp_path / "histories")[0] == 0
    index = (tmp_path / "site" / "index.html").read_text()
    assert index.count("<tr>") == 3
    for found in lines(tmp_path / "site"):
        assert len(found["trend"]["nights"]) == 2
        assert found["name"] in index
        assert f'href="{found["name"]}-' in index


def test_the_first_figure_is_the_first_metric_that_was_compared(tmp_path: Path) -> None:
    night(tmp_path / "nights", 1, declared=["Recall", "RecallAt1"])
    site(tmp_path / "site", tmp_path / "nights")
    (line,) = lines(tmp_path / "site")
    assert [each["name"] for each in line["trend"]["metrics"]] == ["Recall", "RecallAt1", "LatencyPercentile50"]


def test_a_history_without_a_comparison_shows_what_every_report_shows(tmp_path: Path) -> None:
    night(tmp_path / "nights", 1)
    site(tmp_path / "site", tmp_path / "nights")
    (line,) = lines(tmp_path / "site")
    assert [each["name"] for each in line["trend"]["metrics"]] == ["RecallAt1", "Recall", "LatencyPercentile50"]


def test_gates_runs_and_other_versions_are_shown_where_the_history_knows_them(tmp_path: Path) -> None:
    broken = {"rule": "RecallAt1 >= -2pp", "passed": False, "reason": "the difference is -3 pp"}
    night(tmp_path / "nights", 1, version="1")
    night(tmp_path / "nights", 2, version="2", gates=[broken], run="https://example.org/o/r/actions/runs/7")
    site(tmp_path / "site", tmp_path / "nights")
    for page in (tmp_path / "site").rglob("index.html"):
        assert "✗ broken" in page.read_text()
        assert '<a href="https://example.org/o/r/actions/runs/7">2026-01-02</a>' in page.read_text()
    assert "jedi 2 from 2026-01-02 on" in page.read_text()
    assert "the difference is -3 pp" in page.read_text()


def test_a_change_of_level_is_told_on_both_pages(tmp_path: Path) -> None:
    for day in range(1, 25):
        night(tmp_path / "nights", day, RecallAt1=0.9 if day <= 14 else 0.8)
    site(tmp_path / "site", tmp_path / "nights")
    index, page = sorted((tmp_path / "site").rglob("index.html"), key=lambda path: len(path.parts))
    assert "▼ from 2026-01-15 on" in index.read_text()
    assert "▼ 90.0% → 80.0% from 2026-01-15 on" in page.read_text()


def test_the_same_histories_make_the_same_bytes_in_any_order_and_place(tmp_path: Path) -> None:
    for day in range(1, 13):
        night(tmp_path / "a" / "x", day, RecallAt1=day / 20)
        night(tmp_path / "a" / "y", day, engine="words")
    shutil.copytree(tmp_path / "a", tmp_path / "b")
    made = [tmp_path / "one", tmp_path / "two"]
    site(made[0], tmp_path / "a")
    site(made[1], tmp_path / "b" / "y", tmp_path / "b" / "x")
    one, two = ({path.relative_to(folder): path.read_bytes() for path in folder.rglob("*.*")} for folder in made)
    assert one == two


def test_two_folders_of_one_name_are_one_history(tmp_path: Path) -> None:
    night(tmp_path / "2025" / "x", 1)
    night(tmp_path / "2026" / "x", 2)
    site(tmp_path / "site", tmp_path / "2025", tmp_path / "2026")
    (line,) = lines(tmp_path / "site")
    assert len(line["trend"]["nights"]) == 2


def test_an_empty_history_is_said_clearly(tmp_path: Path) -> None:
    (tmp_path / "nights").mkdir()
    assert site(tmp_path / "site", tmp_path / "nights")[0] == 0
    assert "There is no history yet" in (tmp_path / "site" / "index.html").read_text()


@pytest.mark.parametrize("given", ["nothing there", "site not empty"])
def test_a_folder_that_cannot_be_meant_is_refused(tmp_path: Path, given: str) -> None:
    night(tmp_path / "nights", 1)
    history = tmp_path / "nihgts" if given == "nothing there" else tmp_path / "nights"
    code, said = site(tmp_path / "site" if given == "nothing there" else tmp_path / "nights", history)
    assert code == 2
    assert ("there is no folder" in said) or ("is not empty" in said)


# ------------------------------------------------------------------------------------------------------------ hostile


def test_hostile_text_is_shown_as_text(tmp_path: Path) -> None:
    gates = [{"rule": NASTY, "passed": False, "reason": NASTY}]
    for day in (1, 2):
        night(
            tmp_path / "nights",
            day,
            engine=NASTY,
            version=f"{NASTY}{day}",
            language=NASTY,
            gates=gates,
            declared=[NASTY],
        )
    assert site(tmp_path / "site", tmp_path / "nights") == (0, "")
    for page in (tmp_path / "site").rglob("*.html"):
        # That of the colours alone.
        (script,) = re.findall("<script[^>]*>", page.read_text())
        assert script.endswith('assets/theme.js">')
        assert "<img" not in page.read_text()
        assert "{{ 7*7 }}" in page.read_text()


def test_a_folder_whose_name_is_no_text_is_shown_all_the_same(tmp_path: Path) -> None:
    night(tmp_path / os.fsdecode(b"nights-\xff"), 1)
    assert site(tmp_path / "site", tmp_path)[0] == 0
    (line,) = lines(tmp_path / "site")
    assert line["name"] == "nights-\\udcff"


def spoiled(change: Callable[[dict[str, Any]], object]) -> Callable[[Path], object]:
    def spoil(file: Path) -> None:
        report = json.loads(file.read_text())
        change(report["evaluations"][0])
        file.write_text(json.dumps(report))

    return spoil


HOSTILE: dict[str, Callable[[Path], object]] = {
    "a link that a browser runs": spoiled(lambda each: each.update(run="javascript:alert(1)")),
    "a link that ends its attribute": spoiled(lambda each: each.update(run='https://x/" onclick="alert(1)')),
    "a figure that is no number": spoiled(lambda each: each["filters"]["ALL"]["metrics"].update(Recall="high")),
    "a figure beyond all measure": spoiled(
        lambda each: each["filters"]["ALL"]["metrics"]["Recall"].update(value=1e308)
    ),
    "no JSON": lambda file: file.write_text("{"),
    "deep": lambda file: file.write_text("[" * 100_000),
    "a symbolic link": lambda file: file.with_name("more.json").symlink_to("/etc/hostname"),
    "a folder that leads out": lambda file: (file.parent / "more").symlink_to("/etc"),
}


@pytest.mark.parametrize("how", HOSTILE)
def test_what_no_comparison_writes_is_refused(tmp_path: Path, how: str) -> None:
    HOSTILE[how](night(tmp_path / "nights", 1))
    code, said = site(tmp_path / "site", tmp_path / "nights")
    assert code == 2, said
    assert not (tmp_path / "site").exists()


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("value", [1e12, -1e12, 0, 5e-324])
def test_the_largest_and_the_smallest_figures_are_drawn(tmp_path: Path, value: float) -> None:
    for day in range(1, 13):
        night(tmp_path / "nights", day, RecallAt1=value * (-1) ** day / 2, LatencyPercentile50=value / 2)
    assert site(tmp_path / "site", tmp_path / "nights") == (0, "")


def test_more_nights_than_a_page_holds_are_left_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ci_eval.jobs.workflows.site.MOST_NIGHTS", 3)
    for day in range(1, 6):
        night(tmp_path / "nights", day)
    site(tmp_path / "site", tmp_path / "nights")
    (line,) = lines(tmp_path / "site")
    assert [each["started"][:10] for each in line["trend"]["nights"]] == ["2026-01-03", "2026-01-04", "2026-01-05"]


def test_more_evaluations_than_there_can_be_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ci_eval.jobs.workflows.site.MOST_LINES", 1)
    for engine in ("jedi", "words"):
        night(tmp_path / engine, 1, engine=engine)
    code, said = site(tmp_path / "site", tmp_path)
    assert (code, "give fewer folders" in said) == (2, True)


# --------------------------------------------------------------------------------------------------- what compare keeps


@pytest.mark.slow
def test_a_comparison_keeps_what_a_site_tells_of_its_night(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    project = write(tmp_path / "p", **{f"file{i}__py": GREETER + f"x{i} = {i}\nprint(x{i})\n" for i in range(6)})
    given = ("evaluate", "--project", f"path:{project}", "--engine", "words", "--set", "interpret.seed=5", "--output")
    for name in ("base", "new"):
        assert command(*given, tmp_path / name)[0] == 0
    known = {"ACTIONS": "true", "SERVER_URL": "https://example.org", "REPOSITORY": "o/r", "RUN_ID": "7"}
    for name, value in known.items():
        monkeypatch.setenv(f"GITHUB_{name}", value)
    rules = ("--gate", "RecallAt1 >= 100%", "--history", tmp_path / "nights", "--output", tmp_path / "out")
    assert command("compare", tmp_path / "base", tmp_path / "new", *rules)[0] == 1
    (kept,) = (tmp_path / "nights").iterdir()
    (evaluation,) = json.loads(kept.read_text())["evaluations"]
    assert evaluation["run"] == "https://example.org/o/r/actions/runs/7"
    assert [(gate["rule"], gate["passed"]) for gate in evaluation["gates"]] == [("RecallAt1 >= 100%", False)]
    assert evaluation["declared"][0] == "RecallAt1"
    assert evaluation["seed"] == 5
    assert site(tmp_path / "site", tmp_path / "nights")[0] == 0
    index = (tmp_path / "site" / "index.html").read_text()
    assert "✗ broken" in index
    assert "https://example.org/o/r/actions/runs/7" in index
