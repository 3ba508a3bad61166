"""`evaluate --precision`, as users run it."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any
from unittest import mock

import pytest

from ci_eval.config import Config
from ci_eval.errors import ConfigError
from ci_eval.jobs.sampling.precise import metric_of, parse
from ci_eval.model import SessionScore
from ci_eval.statistics.phases import Phase, Sampler
from ci_eval.workspace import Workspace
from tests.command import command
from tests.projects import GREETER, write

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """About 1,200 sessions, of which `words` answers those of some kinds only."""
    new = "import m{0}\nx = m{0}.b{0}(x)\nprint(x.c{0})\n"
    files = {f"file{i}__py": GREETER + "".join(new.format(i * 9 + j) for j in range(9)) for i in range(12)}
    return write(tmp_path_factory.mktemp("precise") / "p", **files)


def evaluate(project: Path, output: Path, *more: object) -> tuple[int, str]:
    code, out, err = command(
        *("evaluate", "--project", f"path:{project}", "--engine", "words", "--output", output),
        *("--set", "actions.strategy.prefix.name=NoPrefix", "--jobs", 1, *more),
    )
    return code, " ".join((out + err).split())


@pytest.fixture(scope="module")
def sampled(project: Path) -> Path:
    folder = project.parent / "sampled"
    code, said = evaluate(project, folder, "--precision", "3pp")
    assert code == 0, said
    assert "Precision: Recall of all" in said
    return folder


def figures(folder: Path) -> dict[str, Any]:
    everything: dict[str, Any] = json.loads((folder / "reports" / "metrics.json").read_text())["evaluations"][0]
    return everything


def strata(folder: Path) -> dict[str, int]:
    sessions = (each for _, found in Workspace.open(folder).sessions(SessionScore) for each in found)
    return {each.id: each.stratum for each in sessions}


def test_the_interval_is_as_narrow_as_wanted_and_holds_the_figure_of_all(
    project: Path, sampled: Path, tmp_path: Path
) -> None:
    assert evaluate(project, tmp_path / "whole")[0] == 0
    found, whole = figures(sampled), figures(tmp_path / "whole")["filters"]["ALL"]
    recall = found["filters"]["ALL"]["metrics"]["Recall"]
    assert recall["high"] - recall["low"] <= 0.06
    assert recall["low"] <= whole["metrics"]["Recall"]["value"] <= recall["high"]
    assert found["filters"]["ALL"]["sessions"] < whole["sessions"] / 2
    assert found["sampling"]["metric"] == "Recall"
    assert found["population"] == whole["sessions"]


def test_quantiles_are_left_out_and_the_report_says_so(sampled: Path) -> None:
    assert figures(sampled)["filters"]["ALL"]["metrics"]["LatencyPercentile95"]["value"] is None
    assert "quantiles, and means over files, are left out" in (sampled / "reports" / "report.md").read_text()


def test_any_number_of_workers_asks_the_same_sessions(project: Path, sampled: Path, tmp_path: Path) -> None:
    assert evaluate(project, tmp_path / "w", "--precision", "3pp", "--jobs", 3)[0] == 0
    assert strata(tmp_path / "w") == strata(sampled)


def test_an_interrupted_run_goes_on_and_asks_the_same_sessions(project: Path, sampled: Path, tmp_path: Path) -> None:
    draw = Sampler.next_phase

    def interrupted(sampler: Sampler) -> Phase:
        if sampler.phases:
            raise KeyboardInterrupt
        return draw(sampler)

    with mock.patch.object(Sampler, "next_phase", interrupted):
        assert evaluate(project, tmp_path / "w", "--precision", "3pp")[0] == 130
    code, said = evaluate(project, tmp_path / "w", "--precision", "2pp", "--resume")
    assert (code, "begun with --precision 3pp" in said) == (2, True), said
    assert evaluate(project, tmp_path / "w", "--precision", "3pp", "--resume")[0] == 0
    assert strata(tmp_path / "w") == strata(sampled)
    assert not (tmp_path / "w" / "phases").exists()


def test_a_report_that_is_made_again_has_the_same_figures(sampled: Path) -> None:
    before = figures(sampled)
    assert command("report", sampled)[0] == 0
    assert figures(sampled) == before


def test_merged_projects_keep_what_their_sessions_stand_for(project: Path, sampled: Path, tmp_path: Path) -> None:
    other = write(tmp_path / "q", **{f"q{i}__py": GREETER + f"y{i} = {i}\nprint(y{i})\n" * 12 for i in range(12)})
    assert evaluate(other, tmp_path / "other", "--precision", "3pp")[0] == 0
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
    code, said = evaluate(project, tmp_path / "w", "--precision", "3pp", *more)
    assert (code, "--precision cannot be used here" in said) == (2, True), said


@pytest.mark.parametrize("text", ["1", "0pp", "21pp", "1%", "-1pp"])
def test_a_precision_is_in_percentage_points(text: str) -> None:
    with pytest.raises(ConfigError, match="for example 1pp"):
        parse(text)


def test_the_metric_is_recall_unless_the_configuration_shows_another_first() -> None:
    assert metric_of(Config()).info.name == "Recall"
