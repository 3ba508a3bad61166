"""`evaluate --precision`, as users run it."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any
from unittest import mock

import pytest

from ci_eval.core.base.errors import ConfigError
from ci_eval.core.config import Config
from ci_eval.core.model import SessionScore
from ci_eval.core.workspace import Workspace
from ci_eval.jobs import phases
from ci_eval.jobs.phases import choose_metric, parse
from tests.command import command
from tests.projects import GREETER, write

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("file_in_one_process")]


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """About 1,200 sessions, of which `words` answers those of some kinds only."""
    new = "import m{0}\nx = m{0}.b{0}(x)\nprint(x.c{0})\n"
    files = {f"file{i}__py": GREETER + "".join(new.format(i * 9 + j) for j in range(9)) for i in range(12)}
    return write(tmp_path_factory.mktemp("precise") / "p", **files)


def evaluate(project: Path, output: Path, *more: object) -> tuple[int, str]:
    code, out, err = command(
        *("evaluate", "--project", f"path:{project}", "--engine", "words", "--output", output),
        # One seed of 20 draws sessions whose interval does not hold the figure: 2 is such a one.
        *("--set", "actions.strategy.prefix.name=NoPrefix", "--jobs", 1, "--seed", 3, *more),
    )
    return code, " ".join((out + err).split())


@pytest.fixture(scope="module")
def sampled(project: Path) -> Path:
    folder = project.parent / "sampled"
    code, said = evaluate(project, folder, "--precision", "2pp")
    assert code == 0, said
    assert "Precision: Recall of all" in said
    return folder


def figures(folder: Path) -> dict[str, Any]:
    everything: dict[str, Any] = json.loads((folder / "reports" / "metrics.json").read_text())["evaluations"][0]
    return everything


def asked(folder: Path) -> set[str]:
    return {each.id for _, found in Workspace.open(folder).sessions(SessionScore) for each in found}


def test_the_interval_is_as_narrow_as_wanted_and_holds_the_figure_of_all(sampled: Path, whole: Path) -> None:
    found, everything = figures(sampled), figures(whole)["filters"]["ALL"]
    recall = found["filters"]["ALL"]["metrics"]["Recall"]
    assert recall["high"] - recall["low"] <= 0.04
    assert recall["low"] <= everything["metrics"]["Recall"]["value"] <= recall["high"]
    assert found["filters"]["ALL"]["sessions"] < everything["sessions"]
    assert recall["state"] == "sampled"
    assert found["population"] == everything["sessions"]


def test_any_number_of_workers_asks_the_same_sessions(project: Path, sampled: Path, tmp_path: Path) -> None:
    assert evaluate(project, tmp_path / "w", "--precision", "2pp", "--jobs", 3)[0] == 0
    assert asked(tmp_path / "w") == asked(sampled)


def test_an_interrupted_run_goes_on_and_asks_the_same_sessions(project: Path, sampled: Path, tmp_path: Path) -> None:
    with mock.patch.object(phases, "next_size_of_figure", side_effect=[200, KeyboardInterrupt]):
        assert evaluate(project, tmp_path / "w", "--precision", "2pp")[0] == 130
    code, said = evaluate(project, tmp_path / "w", "--precision", "3pp", "--resume")
    assert (code, "begun with --precision 2pp" in said) == (2, True), said
    assert evaluate(project, tmp_path / "w", "--precision", "2pp", "--resume")[0] == 0
    assert asked(tmp_path / "w") == asked(sampled)
    assert not (tmp_path / "w" / "phases").exists()


def test_strata_of_a_former_version_are_refused_since_their_figures_would_be_others(
    sampled: Path, tmp_path: Path
) -> None:
    copy = Path(shutil.copytree(sampled, tmp_path / "copy"))
    stored = json.loads((copy / "manifest.json").read_text()) | {"sampling": {"strata": []}}
    (copy / "manifest.json").write_text(json.dumps(stored))
    code, _, err = command("report", copy)
    assert (code, "former version of --precision" in " ".join(err.split())) == (2, True), err


@pytest.fixture(scope="module")
def whole(project: Path) -> Path:
    """Of an earlier run, in which all sessions were asked."""
    folder = project.parent / "whole"
    assert evaluate(project, folder, "--all")[0] == 0
    return folder


def test_a_report_that_is_made_again_has_the_same_figures(sampled: Path) -> None:
    before = figures(sampled)
    assert command("report", sampled)[0] == 0
    assert figures(sampled) == before


def test_merged_projects_keep_what_their_sessions_stand_for(project: Path, sampled: Path, tmp_path: Path) -> None:
    other = write(tmp_path / "q", **{f"q{i}__py": GREETER + f"y{i} = {i}\nprint(y{i})\n" * 12 for i in range(12)})
    assert evaluate(other, tmp_path / "other", "--precision", "2pp")[0] == 0
    code, _, err = command("merge", sampled, tmp_path / "other", "--output", tmp_path / "merged")
    assert code == 0, err
    merged = figures(tmp_path / "merged")
    of = [figures(each) for each in (sampled, tmp_path / "other")]
    values = [(each["filters"]["ALL"]["metrics"]["Recall"]["value"], each["population"]) for each in of]
    assert merged["filters"]["ALL"]["metrics"]["Recall"]["value"] == pytest.approx(
        sum(value * sessions for value, sessions in values) / merged["population"]
    )


def test_a_comparison_refuses_runs_whose_size_depends_on_their_own_answers(sampled: Path, tmp_path: Path) -> None:
    copy = Path(shutil.copytree(sampled, tmp_path / "copy"))
    code, _, err = command("compare", sampled, copy, "--output", tmp_path / "c")
    assert (code, "not a random sample" in " ".join(err.split())) == (2, True), err


@pytest.mark.parametrize("more", [("--shard", "1/2"), ("--repeat", 2), ("--set", "interpret.sessionsLimit=10")])
def test_what_draws_sessions_in_another_way_is_refused(project: Path, tmp_path: Path, more: tuple[object, ...]) -> None:
    code, said = evaluate(project, tmp_path / "w", "--precision", "2pp", *more)
    assert (code, "--precision cannot be used here" in said) == (2, True), said


@pytest.mark.parametrize("text", ["1", "0pp", "21pp", "1%", "-1pp"])
def test_a_precision_is_in_percentage_points(text: str) -> None:
    with pytest.raises(ConfigError, match="for example 1pp"):
        parse(text)


def test_the_metric_is_recall_unless_the_configuration_shows_another_first() -> None:
    assert choose_metric(Config()).info.name == "Recall"
