"""Suites: several projects in one configuration, one table, a verdict for each and over all."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from tests.command import command
from tests.projects import GREETER, write

pytestmark = pytest.mark.slow


def configured(folder: Path, count: int = 5, more: str = "") -> Path:
    projects = [
        write(folder / f"p{number}", a__py=GREETER + f"total = {number}\n" * number + "print(total, Greeter)\n")
        for number in range(count)
    ]
    path = folder / "suite.yaml"
    path.write_text(f"engine: words\nprojects: {json.dumps([f'path:{each}' for each in projects])}\n{more}")
    return path


def stored(folder: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((folder / "suite.json").read_text())
    return found


def test_each_project_has_a_workspace_and_all_are_in_one_table(tmp_path: Path) -> None:
    ended, out, said = command("evaluate", configured(tmp_path), "--jobs", 1, "--output", tmp_path / "out")
    assert ended == 0, said
    found = stored(tmp_path / "out")
    assert [each["project"]["name"] for each in found["projects"]] == [f"p{number}" for number in range(5)]
    values = [each["figures"]["RecallAt1"]["value"] for each in found["projects"]]
    whole = found["overall"]["RecallAt1"]
    assert whole["mean"] == pytest.approx(sum(values) / 5)
    assert whole["low"] < whole["mean"] < whole["high"]
    assert whole["population"] == "other projects"
    for each in found["projects"]:
        assert (tmp_path / "out" / each["folder"] / "reports" / "html" / "index.html").is_file()
    page = (tmp_path / "out" / "html" / "index.html").read_text()
    report = (tmp_path / "out" / "report.md").read_text()
    for text in (page, report, " ".join(out.split())):
        assert "Mean of the projects (5): each weighs the same; the intervals of the last row" in text
        assert f"first in the list: {whole['mean']:.1%} on average" in text
    assert out.strip().endswith(str(tmp_path / "out"))


def test_a_suite_of_a_task_without_the_usual_metrics_is_reported(tmp_path: Path) -> None:
    path = configured(tmp_path, 2, "task: golf\n")
    ended, out, said = command("evaluate", path, "--jobs", 1, "--output", tmp_path / "out")
    assert ended == 0, said
    assert "2 projects" in out


def test_engines_that_are_the_same_in_each_project_are_equivalent(tmp_path: Path) -> None:
    path = configured(tmp_path, 2, "comparison: {metrics: [Recall]}\n")
    given = ("--jobs", 1, "--rounds", 2, "--output", tmp_path / "out")
    ended, out, said = command("compare-engines", "words", "words", path, *given)
    assert ended == 0, said
    assert "= EQUIVALENT in 2 of 2 projects" in out


def test_engines_are_compared_over_each_project_and_over_all(tmp_path: Path) -> None:
    path = configured(tmp_path, more="comparison: {metrics: [Recall]}\n")
    given = ("--jobs", 1, "--rounds", 2, "--output", tmp_path / "out")
    ended, out, said = command("compare-engines", "words", "empty", path, *given, "--gate", "Recall >= -1pp")
    assert ended == 1, said
    found = stored(tmp_path / "out")
    assert [each["differences"]["Recall"]["verdict"] for each in found["projects"]] == ["worse"] * 5
    assert found["overall"]["Recall"]["verdict"] == "worse"
    assert all("Recall >= -1pp" in each["trouble"] for each in found["projects"])
    page = (tmp_path / "out" / "html" / "index.html").read_text()
    for text in (page, " ".join(out.split())):
        assert "▼ WORSE in 5 of 5 projects" in text
        assert "✗ RED p0: " in re.sub(" +", " ", text)
    assert '<span class="worse">' in page
    assert (tmp_path / "out" / found["projects"][0]["folder"] / "html" / "index.html").is_file()


def test_a_few_projects_say_nothing_of_others(tmp_path: Path) -> None:
    ended, out, _ = command("evaluate", configured(tmp_path, 2), "--jobs", 1, "--output", tmp_path / "out")
    assert ended == 0
    assert " ".join(out.split()).count("an interval takes 5") == 1


def test_a_suite_is_taken_up(tmp_path: Path) -> None:
    path = configured(tmp_path, 2)
    assert command("evaluate", path, "--jobs", 1, "--output", tmp_path / "out")[0] == 0
    first = stored(tmp_path / "out")
    ended, _, said = command("evaluate", path, "--jobs", 1, "--output", tmp_path / "out", "--resume")
    assert ended == 0, said
    assert [each["figures"]["Recall"] for each in stored(tmp_path / "out")["projects"]] == [
        each["figures"]["Recall"] for each in first["projects"]
    ]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("actions",), "name one project: --project SPEC"),
        (("evaluate", "--shard", "1/2"), "leave out --shard"),
        (("evaluate", "--precision", "1pp"), "leave out --precision"),
        (("compare-engines", "words", "empty", "oracle"), "a suite of projects compares two sides"),
        (("evaluate", "--set", "project=path:."), "cannot be combined with `project` or `dataset`"),
        (("evaluate", "--set", "projects=['path:.', 'path:.']"), "twice"),
    ],
)
def test_what_takes_one_project_says_so(arguments: tuple[str, ...], said: str, tmp_path: Path) -> None:
    ended, _, told = command(arguments[0], configured(tmp_path, 2), *arguments[1:], "--output", tmp_path / "out")
    assert ended == 2
    assert said in " ".join(told.split())


def test_a_project_on_the_command_line_is_meant_alone(tmp_path: Path) -> None:
    given = ("--project", f"path:{tmp_path / 'p0'}", "--jobs", 1, "--output", tmp_path / "out")
    assert command("evaluate", configured(tmp_path, 2), *given)[0] == 0
    assert (tmp_path / "out" / "manifest.json").is_file()
