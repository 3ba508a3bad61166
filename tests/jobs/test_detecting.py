"""`compare-engines --detect`, as users run it."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any
from unittest import mock

import pytest

from ci_eval.core import interpret
from ci_eval.core.base.errors import ConfigError
from ci_eval.core.config import Config, EngineConfig, patch
from ci_eval.core.model import SessionScore
from ci_eval.core.workspace import Workspace
from ci_eval.jobs import phases
from tests.command import command
from tests.projects import GREETER, write

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("file_in_one_process")]


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """1,140 sessions, of which `words` offers about four fifths and `oracle` all."""
    new = "import m{0}\nx = m{0}.b{0}(x)\nprint(x.c{0})\n"
    files = {f"file{i}__py": GREETER + "".join(new.format(i * 9 + j) for j in range(9)) for i in range(12)}
    return write(tmp_path_factory.mktemp("detecting") / "p", **files)


def pair(project: Path, output: Path, *more: object, new: str = "oracle") -> tuple[int, str]:
    code, out, err = command(
        *("compare-engines", "words", new, "--project", f"path:{project}", "--output", output, "--rounds", 2),
        *("--set", "actions.strategy.prefix.name=NoPrefix", "--set", "comparison.metrics=[Recall]", "--jobs", 1, *more),
    )
    written = output / "comparison" / "report.md"
    return code, " ".join((out + err + (written.read_text() if written.exists() else "")).split())


@pytest.fixture(scope="module")
def found(project: Path) -> Path:
    folder = project.parent / "found"
    code, said = pair(project, folder, "--detect", "6pp")
    assert code == 0, said
    assert "wanted: 6.00 pp of Recall, with power 80%" in said
    return folder


def report(folder: Path) -> dict[str, Any]:
    everything: dict[str, Any] = json.loads((folder / "comparison" / "comparison.json").read_text())
    return everything


def asked(folder: Path) -> list[set[str]]:
    """Of each side, the ids of the sessions that were asked."""
    sides = [Workspace.open(folder / name) for name in ("base", "new")]
    return [{each.id for _, of in side.sessions(SessionScore) for each in of} for side in sides]


def test_as_many_sessions_are_asked_as_it_takes(found: Path) -> None:
    detection, paired = report(found)["detection"], report(found)["paired"]
    assert 0 < detection["reached"] <= detection["wanted"] == 0.06
    assert 200 < paired < report(found)["population"] * 0.6
    assert report(found)["filters"]["ALL"]["metrics"]["Recall"]["verdict"] == "better"
    assert "Detectable: " in (found / "comparison" / "report.md").read_text()
    assert "Detectable: " in (found / "comparison" / "html" / "index.html").read_text()


def test_they_are_the_first_of_one_order_on_both_sides(found: Path) -> None:
    base, new = asked(found)
    assert base == new
    side = Workspace.open(found / "base")
    listed = interpret.list_sessions(side, side.manifest().classes, side.manifest().seed)
    chosen = listed.choose(listed.order()[: len(base)])
    assert base == {session for _, sessions in chosen.values() for session in sessions}
    assert side.manifest().planned == side.manifest().finished == len(base)


def test_any_number_of_workers_asks_the_same_sessions(project: Path, found: Path, tmp_path: Path) -> None:
    assert pair(project, tmp_path / "w", "--detect", "6pp", "--jobs", 3)[0] == 0
    assert asked(tmp_path / "w") == asked(found)


def test_an_interrupted_run_goes_on_and_asks_the_same_sessions(project: Path, found: Path, tmp_path: Path) -> None:
    with mock.patch.object(phases, "next_size", side_effect=[200, KeyboardInterrupt]):
        assert pair(project, tmp_path / "w", "--detect", "6pp")[0] == 130
    code, said = pair(project, tmp_path / "w", "--detect", "5pp", "--resume")
    assert (code, "begun with --detect 6pp --power 0.8" in said) == (2, True), said
    code, said = pair(project, tmp_path / "w", "--resume")
    assert (code, "begun with --detect 6pp --power 0.8" in said) == (2, True), said
    assert pair(project, tmp_path / "w", "--detect", "6pp", "--resume")[0] == 0
    assert asked(tmp_path / "w") == asked(found)
    assert report(tmp_path / "w")["detection"] == report(found)["detection"]
    assert not (tmp_path / "w" / "phases").exists()


def test_without_a_word_it_asks_at_most_so_many_and_says_what_they_show(project: Path, tmp_path: Path) -> None:
    with mock.patch.object(phases, "USUAL_SESSIONS", 210), mock.patch.object(phases, "PATIENCE_SECONDS", 600.0):
        code, said = pair(project, tmp_path / "w")
    assert code == 0, said
    assert re.search(r"Asking 210 of [\d,]+ sessions, each 4 times: (less than a minute|about \d+ min), or less", said)
    assert "in Recall of names" in said
    assert report(tmp_path / "w")["paired"] == 210
    assert "at most 210 sessions were asked: --detect 2pp asks more" in said


def test_the_speed_of_the_first_phase_chooses_a_number_that_can_be_asked_again(project: Path, tmp_path: Path) -> None:
    with mock.patch.object(phases, "PATIENCE_SECONDS", 0.0):
        code, said = pair(project, tmp_path / "w")
    assert (code, "--sessions 200 asks the same again" in said) == (0, True), said
    assert pair(project, tmp_path / "again", "--sessions", 200)[0] == 0
    assert asked(tmp_path / "w") == asked(tmp_path / "again")
    assert "of them are names" in said


def test_no_more_sessions_are_asked_than_the_project_has(tmp_path: Path) -> None:
    code, said = pair(write(tmp_path / "p", a__py=GREETER), tmp_path / "w", new="empty")
    (count,) = re.findall(r"Asking all (\d+) sessions, each 4 times: less than a minute", said)
    assert (code, report(tmp_path / "w")["paired"]) == (0, int(count)), said


def test_three_engines_without_a_number_are_asked_as_many_as_fit(project: Path, tmp_path: Path) -> None:
    where = ("--project", f"path:{project}", "--output", tmp_path / "w", "--rounds", 2)
    with mock.patch.object(phases, "PATIENCE_SECONDS", 0.0):
        code, _, said = command("compare-engines", "words", "empty", "oracle", *where)
    assert (code, "--sessions 200 asks the same again" in " ".join(said.split())) == (0, True), said
    sides = [Workspace.open(tmp_path / "w" / name).manifest() for name in ("01-words", "02-empty", "03-oracle")]
    assert [(side.finished, side.detection) for side in sides] == [(200, None)] * 3


def test_where_all_are_asked_any_difference_shows(project: Path, tmp_path: Path) -> None:
    code, said = pair(project, tmp_path / "w", "--detect", "0.1pp")
    assert (code, "any difference in this project" in said) == (0, True), said
    assert report(tmp_path / "w")["detection"]["reached"] == 0
    assert report(tmp_path / "w")["paired"] == report(tmp_path / "w")["population"]


def test_both_sides_compared_again_find_the_same(found: Path, tmp_path: Path) -> None:
    code, _, err = command("compare", found / "base", found / "new", "--output", tmp_path / "comparison")
    assert code == 0, err
    assert report(tmp_path)["detection"] == report(found)["detection"]


@pytest.mark.parametrize(
    ("more", "why"),
    [
        (("--detect", "1"), "for example 1pp"),
        (("--detect", "0.05pp"), "never called better or worse"),
        (("--detect", "1pp", "--power", "0.3"), "not in the range"),
        (("--power", "0.9"), "add --detect"),
        (("--detect", "1pp", "--set", "interpret.sessionsLimit=10"), "--detect cannot be used here"),
        (("--detect", "1pp", "--set", "comparison.metrics=[MeanRank]"), "names none"),
    ],
)
def test_what_cannot_be_found_is_refused(project: Path, tmp_path: Path, more: tuple[object, ...], why: str) -> None:
    code, said = pair(project, tmp_path / "w", *more)
    assert (code, why in said) == (2, True), said
    assert not (tmp_path / "w").exists()


def test_the_metric_is_the_first_share_that_is_declared() -> None:
    config = patch(Config(engine=EngineConfig()), engine="words")
    assert phases.plan_detection(config, 0.01, 0.8).metric == "RecallAt1"
    with pytest.raises(ConfigError, match=r"0\.1pp"):
        phases.plan_detection(config, 0.0005, 0.8)
