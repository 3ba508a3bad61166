"""The job `compare-engines` as users run it, with engines that take as long as they say."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ci_eval.core.config import Config
from ci_eval.core.workspace import Workspace
from ci_eval.jobs import preparation as preparing
from tests.command import command
from tests.fickle import Fickle
from tests.projects import GREETER, write

pytestmark = pytest.mark.slow

Run = Callable[..., tuple[int, dict[str, Any], str]]
TIMES = {
    "fast": (10.0, 10.4, 9.8),
    "same": (10.1, 10.2, 9.9),
    "slow": (13.0, 13.3, 12.9),
    "uneven": (8.0, 19.0, 12.0),
    "late": (150.0, 151.0, 152.0),
}


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Two of these engines by name, over a small project: exit code, comparison.json, what was printed."""
    project = write(tmp_path / "p", a__py=GREETER, b__py=GREETER + "import a\n", c__py=GREETER + "x = 1\n")

    def engine_of(config: Config) -> Fickle:
        name = config.engine.name
        notes = tmp_path / f"notes{len(list(tmp_path.glob('notes*')))}"
        return Fickle(name, notes, TIMES[name], forgets="greet" if name == "uneven" else "")

    def run(base: str, new: str, *more: object, output: Path = tmp_path / "pair") -> tuple[int, dict[str, Any], str]:
        where = ("--project", f"path:{project}", "--output", output, "--jobs", 1)
        code, out, err = command("compare-engines", base, new, *where, *more)
        report = output / "comparison" / "comparison.json"
        return code, json.loads(report.read_text()) if report.exists() else {}, " ".join((out + err).split())

    monkeypatch.setattr(preparing, "load_engine", engine_of)
    return run


def verdicts(report: dict[str, Any], *names: str) -> list[str]:
    return [report["filters"]["ALL"]["metrics"][name]["verdict"] for name in names]


def test_what_is_slower_in_each_round_is_worse_and_breaks_a_gate(run: Run) -> None:
    code, report, said = run("fast", "slow", "--all", "--gate", "LatencyPercentile95 <= +10%")
    assert verdicts(report, "MeanLatency", "LatencyPercentile50", "RecallAt1") == [
        "worse",
        "worse",
        "no-difference-shown",
    ]
    assert report["filters"]["ALL"]["metrics"]["MeanLatency"]["difference"] == pytest.approx(3, abs=0.1)
    assert (code, report["gates"][0]["passed"]) == (1, False)
    assert "1 of 1 gates failed" in said


def test_of_the_same_engine_nothing_is_better_or_worse(run: Run) -> None:
    code, report, _ = run("fast", "same")
    assert code == 0
    said = {each["verdict"] for each in report["filters"]["ALL"]["metrics"].values()}
    assert not said & {"better", "worse"}


def test_rounds_that_differ_more_than_the_engines_show_nothing_and_the_row_says_why(run: Run) -> None:
    _, report, said = run("fast", "uneven", "--all")
    found = report["filters"]["ALL"]["metrics"]["MeanLatency"]
    assert (found["verdict"], "more --rounds show more" in found["why"]) == ("no-difference-shown", True)
    assert report["sides"]["new"]["noise"]["differing"] > 0
    assert "answers differed in" in said


def test_noise_may_hide_a_difference_that_all_sessions_were_asked_for(run: Run, tmp_path: Path) -> None:
    code, report, _ = run("fast", "uneven", "--detect", "1pp")
    assert code == 0
    assert report["paired"] == report["population"]
    assert report["detection"]["reached"] > report["detection"]["wanted"]
    text = " ".join((tmp_path / "pair" / "comparison" / "report.md").read_text().split())
    assert "all sessions were asked, but answers differ from round to round" in text


def test_answers_that_differ_from_round_to_round_make_exact_verdicts_uncertain(run: Run, tmp_path: Path) -> None:
    _, report, _ = run("fast", "uneven")
    found = report["filters"]["ALL"]["metrics"]["Recall"]
    assert found["noise"] > 0
    assert found["low"] < found["difference"] < found["high"]
    for page in ("report.md", "html/index.html"):
        text = (tmp_path / "pair" / "comparison" / page).read_text()
        assert "the interval is of answers that differ from round to round" in text
        assert "▲ and ▼ mark verdicts on declared metrics" in text


def test_what_comes_too_late_is_not_right(run: Run) -> None:
    _, report, _ = run("fast", "late", "--all")
    metrics = report["filters"]["ALL"]["metrics"]
    assert metrics["RightWithin100ms"]["new"] == 0
    assert metrics["RightWithin200ms"]["new"] == metrics["RecallAt1"]["new"] > 0
    assert verdicts(report, "RightWithin100ms", "RightWithin200ms") == ["worse", "equivalent"]


def test_sides_of_different_runs_have_times_without_a_verdict(run: Run, tmp_path: Path) -> None:
    for name in ("one", "two"):
        run("fast", "slow", output=tmp_path / name)
    _, out, _ = command("compare", tmp_path / "one" / "base", tmp_path / "two" / "new", "--output", tmp_path / "c")
    assert out
    report = json.loads((tmp_path / "c" / "comparison.json").read_text())
    found = report["filters"]["ALL"]["metrics"]["MeanLatency"]
    assert (found["verdict"], found["low"]) == ("not-comparable", None)
    assert "compare-engines" in found["why"]


def test_both_sides_are_sealed_workspaces_with_reports(run: Run, tmp_path: Path) -> None:
    run("fast", "slow")
    for name in ("base", "new"):
        workspace = Workspace.open(tmp_path / "pair" / name)
        workspace.verify()
        assert workspace.manifest().rounds == 3
        assert (workspace.folder / "reports" / "metrics.json").is_file()


def test_a_run_is_taken_up_where_it_was_and_only_as_it_was(run: Run, tmp_path: Path) -> None:
    run("fast", "slow", "--all")
    lost = next((tmp_path / "pair" / "new" / "sessions").glob("b.py*"))
    lost.unlink()
    code, _, said = run("fast", "slow", "--all", "--resume", "--rounds", 2)
    assert (code, "each session is asked 3 times" in said) == (2, True)
    code, report, _ = run("fast", "slow", "--all", "--resume")
    assert (code, lost.exists(), verdicts(report, "MeanLatency")) == (0, True, ["worse"])


def test_three_engines_are_ranked_and_compared_each_with_each(run: Run, tmp_path: Path) -> None:
    code, _, said = run("fast", "same", "slow", "--all", "--gate", "LatencyPercentile95 <= +10%")
    assert (code, "1 of 2 gates failed" in said) == (1, True), said
    folder = tmp_path / "pair"
    workspaces = [folder / name for name in ("01-fast", "02-same", "03-slow")]
    assert len({Workspace.open(workspace).manifest().turns for workspace in workspaces}) == 1
    comparisons = sorted((folder / "comparison").glob("*/comparison.json"))
    reports = [json.loads(path.read_text()) for path in comparisons]
    names = [[report["sides"][side]["engine"]["name"] for side in ("base", "new")] for report in reports]
    assert names == [["fast", "same"], ["fast", "slow"], ["same", "slow"]]
    assert [verdicts(report, "MeanLatency") == ["worse"] for report in reports] == [False, True, True]
    assert [len(report["gates"]) for report in reports] == [1, 1, 0]
    assert [path.parent.name for path in comparisons] == ["01-fast-02-same", "01-fast-03-slow", "02-same-03-slow"]
    ranking = json.loads((folder / "comparison" / "overview.json").read_text())["ranking"]
    assert len(ranking["sides"]) == 3
    row, column = (ranking["order"].index(number) for number in (2, 0))
    times = ranking["pairs"]["LatencyPercentile50"][row][column]
    shown = [ranking["times"][side]["LatencyPercentile50"]["value"] for side in (row, column)]
    assert times["verdict"] == "worse"
    assert [times["new"], times["base"]] == pytest.approx(shown)
    assert "Times have no verdict" not in (folder / "comparison" / "html" / "index.html").read_text()


def test_three_engines_ask_as_many_sessions_as_the_user_says(run: Run) -> None:
    code, _, said = run("fast", "same", "slow", "--detect", "2pp")
    assert (code, "--detect needs exactly two sides" in said) == (2, True)


def test_rounds_of_one_engine_tell_its_noise(run: Run, tmp_path: Path) -> None:
    where = ("--project", f"path:{tmp_path / 'p'}", "--output", tmp_path / "one", "--jobs", 1)
    code, out, err = command("evaluate", "--engine", "uneven", "--repeat", 3, *where)
    assert code == 0, err
    noise = json.loads((tmp_path / "one" / "reports" / "metrics.json").read_text())["evaluations"][0]["noise"]
    assert (noise["rounds"], noise["differing"] > 0) == (3, True)
    # What the engine says, and the moment that ranking took.
    assert noise["latencies"] == pytest.approx([8, 19, 12], abs=2)
    reports = tmp_path / "one" / "reports"
    assert "asked in 3 rounds" in (reports / "report.md").read_text()
    assert "Asked in 3 rounds" in (reports / "html" / "index.html").read_text()
    assert f"answers differed in {noise['differing']} of" in out
