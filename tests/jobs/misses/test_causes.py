"""A planted defect is the first cluster; runs without ranks and runs of other sessions are refused."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.command import command
from tests.here import one_process
from tests.projects import GREETER, write

SERVER = Path(__file__).parent / "planted.py"
TEXT = """
class Base:
    def describe(self, text, data):
        print(text, data)

    def render(self, reader, dummy):
        print(reader, dummy)

    def total(self, amount, value):
        print(amount, value)


class Child(Base):
    def __init__(self, data):
        self.count = data
        self.label = data

    def first(self, text, value, data):
        self.describe(text, data)
        self.render(data, value)
        self.total(value, text)
        print(self.count, data, text)

    def second(self, reader, data, dummy, value):
        self.total(reader, data)
        self.render(dummy, data)
        print(self.label, value, dummy)
"""
Run = Callable[[str], Path]


@pytest.fixture(scope="module")
def planted(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """A function: defect → the workspace of the server that has it, evaluated once."""
    root = tmp_path_factory.mktemp("planted")
    project = write(root / "p", a__py=TEXT)

    def run(defect: str) -> Path:
        folder = root / defect
        if not folder.exists():
            engine = ("--engine-command", f"{sys.executable} {SERVER} {defect}")
            with one_process():
                code, _, err = command(
                    *("evaluate", "--project", f"path:{project}", "--language", "python", *engine),
                    *("--jobs", 1, "--output", folder),
                )
            assert code == 0, err
        return folder

    return run


def causes(workspace: Path, output: Path, *options: object) -> dict[str, Any]:
    code, out, err = command("causes", workspace, "--output", output, *options)
    assert code == 0, err
    assert out.splitlines()[-1] == str(output)
    result: dict[str, Any] = json.loads((output / "causes.json").read_text())
    return result


def recall(workspace: Path, metric: str = "RecallAt1") -> float:
    figures = json.loads((workspace / "reports" / "metrics.json").read_text())["evaluations"][0]
    value: float = figures["filters"][figures["headline"]]["metrics"][metric]["value"]
    return value


def test_acceptance_is_right_for_the_share_of_offered_names_whose_range_is(planted: Run) -> None:
    none, spoiled = planted("none"), planted("range")
    assert recall(none, "AcceptedRight") == 1.0
    # Both servers offer the same names.
    share = recall(spoiled, "Recall") / recall(none, "Recall")
    assert 0 < share < 1
    assert recall(spoiled, "AcceptedRight") == pytest.approx(share)


@pytest.mark.parametrize(
    ("defect", "cause"),
    [
        ("inherited", "the member is missing"),
        ("bare", "members without their object"),
        ("range", "accepting the right name damages the text around it"),
    ],
)
def test_a_planted_defect_is_the_first_cluster_and_its_share_is_the_truth(
    planted: Run, tmp_path: Path, defect: str, cause: str
) -> None:
    good, bad = recall(planted("none")), recall(planted(defect))
    first, *others = causes(planted(defect), tmp_path)["clusters"]
    assert first["cause"] == cause
    assert others, "the file has misses of other causes as well"
    assert first["share"] == pytest.approx((good - bad) / (1 - bad), rel=0.1)
    assert first["gain"] == pytest.approx(good - bad, rel=0.1)


def test_impossible_suggestions_are_counted_in_all_lists_of_places_that_are_judged(
    planted: Run, tmp_path: Path
) -> None:
    good, bad = (causes(planted(defect), tmp_path) for defect in ("inherited", "bare"))
    assert good["validAt5"] == 1
    # The five bare members are first in each list of names, of which some have none that begin as typed.
    assert 0.5 < bad["validAt5"] < 0.95
    assert good["validLists"] > 10
    assert f"ValidAt5: {bad['validAt5']:.1%}" in (tmp_path / "causes.md").read_text()


def test_shares_add_up_and_clusters_are_sorted_by_share_times_certainty(planted: Run, tmp_path: Path) -> None:
    result = causes(planted("bare"), tmp_path, "--set", "reports.headline=all")
    clusters = result["clusters"]
    assert sum(cluster["share"] for cluster in clusters) == pytest.approx(1)
    assert sum(cluster["mrrGain"] for cluster in clusters) == pytest.approx(result["mrrLost"])
    sizes = [cluster["share"] * cluster["certainty"] for cluster in clusters]
    assert sizes == sorted(sizes, reverse=True)
    assert all(len(cluster["examples"]) <= 3 for cluster in clusters)


def test_what_got_worse_is_the_defect_alone(planted: Run, tmp_path: Path) -> None:
    result = causes(planted("inherited"), tmp_path, "--base", planted("none"))
    assert [cluster["cause"] for cluster in result["clusters"]] == ["the member is missing"]
    assert result["lost"] == pytest.approx(recall(planted("none")) - recall(planted("inherited")))
    assert (tmp_path / "causes.md").read_text().startswith("# What got worse\n")
    assert causes(planted("none"), tmp_path, "--base", planted("inherited"))["clusters"] == []


def test_a_miss_that_another_engine_has_is_certain(planted: Run, tmp_path: Path) -> None:
    result = causes(planted("inherited"), tmp_path, "--other", planted("none"))
    first = result["clusters"][0]
    assert first["certainty"] == 1
    assert [*first["others"].values()] == [first["sessions"]]
    assert "has it" in (tmp_path / "causes.md").read_text()


def test_a_miss_that_no_other_engine_has_is_not_to_be_fixed_first(planted: Run, tmp_path: Path) -> None:
    result = causes(planted("inherited"), tmp_path, "--other", planted("inherited"))
    missing = next(cluster for cluster in result["clusters"] if cluster["cause"] == "the member is missing")
    assert missing["certainty"] == pytest.approx(0.2)
    assert [*missing["others"].values()] == [0]


def test_the_page_shows_clusters_and_examples(planted: Run, tmp_path: Path) -> None:
    result = causes(planted("bare"), tmp_path)
    page = (tmp_path / "causes" / "index.html").read_text()
    assert "What to fix first" in page
    for example in result["clusters"][0]["examples"]:
        assert f"{example['file']}:{example['line']}" in page
        assert example["session"] in page


def test_results_go_into_the_reports_of_the_workspace_which_stays_sealed(planted: Run) -> None:
    workspace = planted("none")
    assert command("causes", workspace)[0] == 0
    assert (workspace / "reports" / "causes.json").exists()
    assert command("report", workspace)[0] == 0
    assert (workspace / "reports" / "causes" / "index.html").exists()


def test_an_engine_without_a_miss_has_nothing_to_fix(tmp_path: Path) -> None:
    project = write(tmp_path / "p", a__py=GREETER)
    with one_process():
        command(
            *("evaluate", "--project", f"path:{project}", "--engine", "oracle", "--jobs", 1, "--output"), tmp_path / "w"
        )
    assert causes(tmp_path / "w", tmp_path / "c")["clusters"] == []
    assert "Nothing was lost" in (tmp_path / "c" / "causes.md").read_text()


def test_a_language_that_cannot_be_judged_is_counted_as_not_known(tmp_path: Path) -> None:
    project = write(tmp_path / "p", a__txt="one two three one two three\n" * 4)
    with one_process():
        code, _, err = command(
            *("evaluate", "--project", f"path:{project}", "--language", "text", "--engine", "words"),
            *("--jobs", 1, "--output", tmp_path / "w"),
        )
    assert code == 0, err
    result = causes(tmp_path / "w", tmp_path / "c")
    assert result["judgeable"] > 0
    assert (result["grammarJudged"], result["scopeJudged"]) == (0, 0)
    assert "the grammar cannot tell at" in (tmp_path / "c" / "causes.md").read_text()


def test_a_workspace_of_other_sessions_is_refused(planted: Run, tmp_path: Path) -> None:
    project = write(tmp_path / "p", b__py=GREETER)
    with one_process():
        command(
            *("evaluate", "--project", f"path:{project}", "--engine", "words", "--jobs", 1, "--output"), tmp_path / "w"
        )
    code, _, err = command("causes", planted("none"), "--other", tmp_path / "w")
    assert code == 2
    assert "has none of the sessions" in " ".join(err.split())


def test_a_task_without_ranks_has_no_causes(tmp_path: Path) -> None:
    project = write(tmp_path / "p", a__py=GREETER)
    with one_process():
        code, _, err = command(
            *("evaluate", "--task", "golf", "--project", f"path:{project}", "--engine", "words"),
            *("--jobs", 1, "--output", tmp_path / "w"),
        )
    assert code == 0, err
    code, _, err = command("causes", tmp_path / "w")
    assert code == 3
    assert "has no RecallAt1" in " ".join(err.split())
