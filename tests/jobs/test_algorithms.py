"""The ranking of all evaluations of a nightly run."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.command import command as run
from tests.projects import GREETER, write

pytestmark = pytest.mark.engine

ENGINES = ("recency", "words")
TYPES = ("BASIC", "FREQUENCY")
NAMES = [f"workspace-python-{engine}-{kind}" for engine in ENGINES for kind in TYPES]


def evaluate(project: Path, engine: str, kind: str, output: Path, *more: str) -> None:
    """Evaluate the project into a workspace."""
    code, _, err = run(
        "evaluate", "--language", "python", "--project", f"path:{project}", "--engine", engine,
        "--completion-type", kind, "--jobs", "1", "--output", output, *more,
    )  # fmt: skip
    assert code == 0, err


@pytest.fixture(scope="module")
def evenings(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Return two nights of two engines and two completion types on one project."""
    folder = tmp_path_factory.mktemp("evenings")
    project = write(folder / "project", **{f"file{i}__py": GREETER + f"x{i} = {i}\nprint(x{i})\n" for i in range(3)})
    nights = [folder / "first", folder / "second"]
    for night in nights:
        for engine in ENGINES:
            for kind in TYPES:
                evaluate(project, engine, kind, night / f"workspace-python-{engine}-{kind}")
    return nights


def overview(folder: Path) -> dict[str, Any]:
    """Read the ranking of a folder."""
    return dict(json.loads((folder / "overview.json").read_text()))


def test_two_nights_make_one_page_each_and_a_trend_with_a_line_each(evenings: list[Path], tmp_path: Path) -> None:
    for number, night in enumerate(evenings, 1):
        output = tmp_path / night.name
        code, out, err = run("ci", "algorithms", night, "--history", tmp_path / "past", "--output", output)
        assert code == 0, err
        ranked = overview(output)
        ranking = ranked["ranking"]
        assert sorted(side["workspace"] for side in ranking["sides"]) == NAMES
        values = [figures["RecallAt1"]["value"] for figures in ranking["figures"]]
        assert values == sorted(values, reverse=True)
        assert [len(trend["nights"]) for trend in ranked["trends"]] == [number] * 4
        for side, figures, trend in zip(ranking["sides"], ranking["figures"], ranked["trends"], strict=True):
            assert trend["nights"][-1]["title"] == side["title"]
            assert trend["nights"][-1]["metrics"]["RecallAt1"]["value"] == pytest.approx(figures["RecallAt1"]["value"])
        assert out.count(f"{number - 1} evaluation") >= 4
    pages = [(tmp_path / night.name / "html" / "index.html").read_text() for night in evenings]
    # A chart has a line for each evaluation, and the first night has none.
    charts = pages[1].split("<figure")[1:]
    assert "<figure" not in pages[0]
    assert {chart.count("<polyline") for chart in charts} == {4}
    assert all(f"{engine}, {kind}" in charts[0] for engine in ENGINES for kind in TYPES)
    assert "a trend needs two" in pages[0]
    assert sorted(path.name for path in (tmp_path / "past").iterdir()) == [
        name.replace("workspace", "history") for name in NAMES
    ]


def test_gates_compare_each_evaluation_with_the_first_one(
    evenings: list[Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # A workflow hands its rules over as an input.
    monkeypatch.setenv("INPUT_GATES", "Recall >= -100%\n\nRecallAt5 >= -100%\n")
    code, out, err = run(
        "ci", "algorithms", evenings[0], "--gate", "RecallAt1[ALL] >= 100%", "--output", tmp_path / "out"
    )
    assert code == 1
    assert "3 of 9 gates failed" in err
    # Each result stands below the name of its evaluation, and so does one that cannot be told.
    assert (out.count("gate kept"), out.count("gate BROKEN")) == (6, 3)
    assert (tmp_path / "out" / "html" / "index.html").is_file()
    comparisons = sorted(path for path in (tmp_path / "out").iterdir() if (path / "comparison.json").is_file())
    bases = {json.loads((path / "comparison.json").read_text())["sides"]["base"]["workspace"] for path in comparisons}
    assert (len(comparisons), bases) == (3, {NAMES[0]})


def test_a_configurations_own_gates_are_about_its_past(evenings: list[Path], tmp_path: Path) -> None:
    for name in NAMES[:2]:
        shutil.copytree(evenings[0] / name, tmp_path / "night" / name)
        # A view may declare gates, as a configuration does.
        (tmp_path / "night" / name / "view.yaml").write_text("comparison.gates: [RecallAt1 >= 100%]\n")
    code, _, err = run("ci", "algorithms", tmp_path / "night", "--output", tmp_path / "out")
    assert code == 0, err
    # Two evaluations have a ranking, too.
    assert len(overview(tmp_path / "out")["ranking"]["sides"]) == 2


def test_projects_are_ranked_apart_and_what_is_alone_is_not_ranked(evenings: list[Path], tmp_path: Path) -> None:
    night = tmp_path / "night"
    for name in NAMES[:3]:
        shutil.copytree(evenings[0] / name, night / name)
    for kind in TYPES:
        other = write(tmp_path / "other", file__py=GREETER)
        evaluate(other, "words", kind, night / f"workspace-other-{kind}")
    scripts = write(tmp_path / "scripts", file__py=GREETER + "print(1)\n")
    evaluate(scripts, "words", "BASIC", night / "workspace-scripts")
    code, _, err = run("ci", "algorithms", night, "--output", tmp_path / "out")
    assert code == 0, err
    assert "no other evaluation has the same sessions: workspace-scripts" in " ".join(err.split())
    sides = {path.name: len(overview(path)["ranking"]["sides"]) for path in (tmp_path / "out").iterdir()}
    assert sides == {"python-project": 3, "python-other": 2}


def test_a_night_of_one_evaluation_has_nothing_to_rank(evenings: list[Path], tmp_path: Path) -> None:
    code, _, err = run("ci", "algorithms", evenings[0] / NAMES[0], "--output", tmp_path / "out")
    assert code == 0
    assert "not ranked" in err
    assert list((tmp_path / "out").iterdir()) == []


def test_a_gate_of_an_evaluation_that_is_not_ranked_is_not_kept(evenings: list[Path], tmp_path: Path) -> None:
    given = ("ci", "algorithms", evenings[0] / NAMES[0], "--gate", "Recall >= -1pp", "--output", tmp_path / "out")
    code, _, err = run(*given)
    assert (code, "1 gate was not judged: nothing to compare" in " ".join(err.split())) == (1, True), err


def test_a_gate_that_cannot_tell_warns(evenings: list[Path], tmp_path: Path) -> None:
    pair = [evenings[0] / name for name in (NAMES[0], NAMES[2])]
    code, out, err = run(
        "ci", "algorithms", *pair, "--gate", "RecallAt1 >= -5pp population: code", "--output", tmp_path / "out"
    )
    assert (code, "gate undecided" in out) == (0, True), out
    assert "is undecided, and passes" in " ".join(err.split())


def test_a_mistake_in_a_gate_leaves_no_output(evenings: list[Path], tmp_path: Path) -> None:
    code, _, err = run("ci", "algorithms", evenings[0], "--gate", "Recal >= 1%", "--output", tmp_path / "out")
    assert (code, "Recal" in err, (tmp_path / "out").exists()) == (2, True, False)


def test_a_night_without_evaluations_says_so(tmp_path: Path) -> None:
    code, _, err = run("ci", "algorithms", "--output", tmp_path / "out")
    assert (code, "nothing to rank" in err) == (0, True)


def test_a_history_keeps_the_gates_of_a_comparison(evenings: list[Path], tmp_path: Path) -> None:
    pair = [evenings[0] / name for name in NAMES[:2]]
    history = tmp_path / "past" / NAMES[1].replace("workspace", "history")
    code, _, err = run(
        "compare", *pair, "--gate", "Recall >= -100pp", "--history", history, "--output", tmp_path / "comparison"
    )
    assert code == 0, err
    before = {path.name: path.read_bytes() for path in history.iterdir()}
    code, _, err = run("ci", "algorithms", *pair, "--history", tmp_path / "past", "--output", tmp_path / "out")
    assert code == 0, err
    assert {path.name: path.read_bytes() for path in history.iterdir()} == before


def test_a_damaged_workspace_is_refused(evenings: list[Path], tmp_path: Path) -> None:
    for name in NAMES[:2]:
        shutil.copytree(evenings[0] / name, tmp_path / "night" / name)
    file = next((tmp_path / "night" / NAMES[1] / "sessions").iterdir())
    file.write_bytes(file.read_bytes() + b"\0")
    code, _, err = run("ci", "algorithms", tmp_path / "night", "--output", tmp_path / "out")
    assert code == 2
    assert "is not what was evaluated" in " ".join(err.split())
