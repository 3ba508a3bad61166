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
from ci_eval.core.statistics.phases import FIRST, Phase, Sampler
from ci_eval.core.workspace import Workspace
from ci_eval.jobs.sampling.precise import choose_metric, parse
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
        # One seed of 25 draws sessions whose interval does not hold the figure: 1 is such a one.
        *("--set", "actions.strategy.prefix.name=NoPrefix", "--jobs", 1, "--seed", 2, *more),
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


def strata(folder: Path) -> dict[str, int]:
    sessions = (each for _, found in Workspace.open(folder).sessions(SessionScore) for each in found)
    return {each.id: each.stratum for each in sessions}


def test_the_interval_is_as_narrow_as_wanted_and_holds_the_figure_of_all(sampled: Path, whole: Path) -> None:
    found, everything = figures(sampled), figures(whole)["filters"]["ALL"]
    recall = found["filters"]["ALL"]["metrics"]["Recall"]
    assert recall["high"] - recall["low"] <= 0.04
    assert recall["low"] <= everything["metrics"]["Recall"]["value"] <= recall["high"]
    assert found["filters"]["ALL"]["sessions"] < everything["sessions"] / 2
    assert found["sampling"]["metric"] == "Recall"
    assert found["population"] == everything["sessions"]


def test_quantiles_are_left_out_and_the_report_says_so(sampled: Path) -> None:
    assert figures(sampled)["filters"]["ALL"]["metrics"]["LatencyPercentile95"]["value"] is None
    assert "quantiles, and means over files, are left out" in (sampled / "reports" / "report.md").read_text()


def test_any_number_of_workers_asks_the_same_sessions(project: Path, sampled: Path, tmp_path: Path) -> None:
    assert evaluate(project, tmp_path / "w", "--precision", "2pp", "--jobs", 3)[0] == 0
    assert strata(tmp_path / "w") == strata(sampled)


def test_an_interrupted_run_goes_on_and_asks_the_same_sessions(project: Path, sampled: Path, tmp_path: Path) -> None:
    draw = Sampler.next_phase

    def interrupted(sampler: Sampler) -> Phase:
        if sampler.phases:
            raise KeyboardInterrupt
        return draw(sampler)

    with mock.patch.object(Sampler, "next_phase", interrupted):
        assert evaluate(project, tmp_path / "w", "--precision", "2pp")[0] == 130
    code, said = evaluate(project, tmp_path / "w", "--precision", "3pp", "--resume")
    assert (code, "begun with --precision 2pp" in said) == (2, True), said
    assert evaluate(project, tmp_path / "w", "--precision", "2pp", "--resume")[0] == 0
    assert strata(tmp_path / "w") == strata(sampled)
    assert not (tmp_path / "w" / "phases").exists()


@pytest.fixture(scope="module")
def whole(project: Path) -> Path:
    """Of an earlier run, in which all sessions were asked."""
    folder = project.parent / "whole"
    assert evaluate(project, folder, "--all")[0] == 0
    return folder


def test_an_earlier_run_tells_what_to_expect_so_that_fewer_are_asked(
    project: Path, whole: Path, sampled: Path, tmp_path: Path
) -> None:
    code, said = evaluate(project, tmp_path / "w", "--precision", "2pp", "--expect", whole)
    assert code == 0, said
    asked = len(strata(tmp_path / "w"))
    assert asked == pytest.approx(FIRST, abs=5)
    assert asked < len(strata(sampled)) / 1.2
    found, everything = (figures(each)["filters"]["ALL"]["metrics"]["Recall"] for each in (tmp_path / "w", whole))
    assert found["low"] <= everything["value"] <= found["high"]
    for folder, told in ((tmp_path / "w", True), (sampled, False)):
        assert ("by how they went in an earlier run" in (folder / "reports" / "report.md").read_text()) == told


def test_a_run_that_expects_another_cannot_be_taken_up_without(project: Path, whole: Path, tmp_path: Path) -> None:
    asked = ("--precision", "2pp", "--expect", whole)
    with mock.patch.object(Sampler, "next_phase", side_effect=KeyboardInterrupt):
        assert evaluate(project, tmp_path / "w", *asked)[0] == 130
    code, said = evaluate(project, tmp_path / "w", "--precision", "2pp", "--resume")
    assert (code, "and --expect another run" in said) == (2, True), said
    assert evaluate(project, tmp_path / "w", *asked, "--resume")[0] == 0


def test_a_run_of_another_project_tells_nothing_and_that_is_said(project: Path, sampled: Path, tmp_path: Path) -> None:
    assert evaluate(write(tmp_path / "q", q__py=GREETER), tmp_path / "other")[0] == 0
    code, said = evaluate(project, tmp_path / "w", "--precision", "2pp", "--expect", tmp_path / "other")
    assert (code, "is not used: it tells of 0 of the" in said) == (0, True), said
    assert strata(tmp_path / "w") == strata(sampled)


def test_a_run_that_asked_few_sessions_is_not_used_since_that_would_cost_some(
    project: Path, sampled: Path, tmp_path: Path
) -> None:
    code, said = evaluate(project, tmp_path / "w", "--precision", "2pp", "--expect", sampled)
    assert (code, "give a run of this project in which all were asked" in said) == (0, True), said
    assert strata(tmp_path / "w") == strata(sampled)
    assert "in an earlier run" not in (tmp_path / "w" / "reports" / "report.md").read_text()


def test_a_run_of_another_engine_is_refused(project: Path, tmp_path: Path) -> None:
    code, said = evaluate(project, tmp_path / "other", "--engine", "oracle")
    assert code == 0, said
    code, said = evaluate(project, tmp_path / "w", "--precision", "2pp", "--expect", tmp_path / "other")
    assert (code, "takes a run of words, of any version" in said) == (2, True), said


def test_on_a_first_night_nothing_is_expected(project: Path, sampled: Path, tmp_path: Path) -> None:
    code, said = evaluate(project, tmp_path / "w", "--precision", "2pp", "--expect", tmp_path / "none")
    assert (code, "Nothing is expected: there is no workspace in" in said) == (0, True), said
    assert strata(tmp_path / "w") == strata(sampled)


def test_without_a_precision_there_is_nothing_to_expect_for(project: Path, whole: Path, tmp_path: Path) -> None:
    code, said = evaluate(project, tmp_path / "w", "--expect", whole)
    assert (code, "give that as well" in said) == (2, True), said


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


def test_what_cannot_weight_sessions_refuses_them(sampled: Path, tmp_path: Path) -> None:
    copy = Path(shutil.copytree(sampled, tmp_path / "copy"))
    code, _, err = command("compare", sampled, copy, "--output", tmp_path / "c")
    assert (code, "no fair sample" in " ".join(err.split())) == (2, True), err
    code, _, err = command("export", sampled, "--to", "ij23", "--output", tmp_path / "e")
    assert (code, "stand for different numbers" in " ".join(err.split())) == (2, True), err


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
