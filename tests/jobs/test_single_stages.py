"""Stage 2 alone, on the actions of a workspace, with other settings than these were made with."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import pytest

from ci_eval.core.config import InterpretConfig, load
from ci_eval.core.model import Session, SessionScore
from ci_eval.core.workspace import Workspace
from tests.command import command
from tests.projects import GREETER, write

pytestmark = pytest.mark.engine

OTHER = {
    "completionType": "ALPHABETICAL",
    "client": "raw",
    "sessionProbability": 0.5,
    "sessionsLimit": 3,
    "seed": 7,
    "autoImport": "off",
    "timeout": 2.0,
    "userModel": "first",
    "saveLogs": True,
    "logFormat": ["jsonl"],
    "trainTestSplit": 50,
    "testSplit": 20,
    "logContext": 10,
    "splitBy": "project",
    "rankingModel": "nowhere.json",
    "maxSuggestions": 2,
    "memoryLimit": 0,
    "confine": "off",
    "trace": True,
    "allowedFailures": 1.0,
    "allowedEmpty": 1.0,
}
"""Another value of each key of the section `interpret`."""


@pytest.fixture(scope="module")
def stage_1(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a workspace with actions at every prefix, and no sessions."""
    folder = tmp_path_factory.mktemp("stage")
    project = write(folder / "project", one__py=GREETER, two__py=f"{GREETER}\nother = Greeter('x')\nother.greet()\n")
    argv = ("actions", "--project", f"path:{project}", "--engine", "words", "--output", folder / "actions")
    code, _, err = command(*argv, "--set", "actions.strategy.prefix={name: EveryPrefix}")
    assert code == 0, err
    return folder / "actions"


def ask(workspace: Path, output: Path, **settings: Any) -> Workspace:
    """Ask the engine with other settings of the section `interpret`."""
    options = [
        part
        for key, value in settings.items()
        for part in ("--set", f"interpret.{key}={msgspec.json.encode(value).decode()}")
    ]
    code, _, err = command("interpret", workspace, *options, "--output", output, "--jobs", 1)
    assert code == 0, err
    return Workspace.open(output)


def sessions(workspace: Workspace) -> dict[str, SessionScore]:
    """Return the sessions by id."""
    return {session.id: session for _, of_file in workspace.sessions(SessionScore) for session in of_file}


def test_each_key_of_stage_2_has_another_value() -> None:
    assert set(OTHER) == set(InterpretConfig.__struct_encode_fields__)


@pytest.mark.parametrize("key", [key for key in OTHER if key != "rankingModel"])
def test_a_key_of_stage_2_is_taken(key: str, stage_1: Path, tmp_path: Path) -> None:
    # Logs as Parquet need a package that the extra `test` leaves out.
    beside = {"logFormat": ["jsonl"]} if key == "saveLogs" else {}
    asked = ask(stage_1, tmp_path / "o", **{key: OTHER[key], **beside})
    stored = load(asked.config_path, environment={}).config.interpret
    value = msgspec.json.decode(msgspec.json.encode(stored))[key]
    assert (value["profile"] if key == "userModel" else value) == OTHER[key]
    assert asked.manifest().complete
    code, _, err = command("report", asked.folder)
    assert code == 0, err


def test_what_is_asked_follows_the_settings(stage_1: Path, tmp_path: Path) -> None:
    whole = sessions(ask(stage_1, tmp_path / "whole"))
    few = [set(sessions(ask(stage_1, tmp_path / f"{seed}", sessionsLimit=20, seed=seed))) for seed in (1, 2)]
    assert [len(ids) for ids in few] == [20, 20]
    assert few[0] != few[1]
    assert few[0] | few[1] <= set(whole)
    half = sessions(ask(stage_1, tmp_path / "half", sessionProbability=0.5))
    assert 0 < len(half) < len(whole)
    short = ask(stage_1, tmp_path / "short", maxSuggestions=1)
    stored = [
        lookup.suggestions for _, of_file in short.sessions(Session) for each in of_file for lookup in each.lookups
    ]
    assert {len(suggestions) for suggestions in stored} == {0, 1}


def test_a_modelled_user_asks_what_a_run_with_that_user_asks(stage_1: Path, tmp_path: Path) -> None:
    asked = ask(stage_1, tmp_path / "o", userModel="thesis", seed=3)
    project = stage_1.parent / "project"
    code, _, err = command(
        "evaluate", "--project", f"path:{project}", "--engine", "words", "--set", "interpret.userModel=thesis",
        "--set", "interpret.seed=3", "--all", "--jobs", 1, "--output", tmp_path / "run",
    )  # fmt: skip
    assert code == 0, err
    ours, theirs = sessions(asked), sessions(Workspace.open(tmp_path / "run"))
    assert [(key, ours[key].status) for key in sorted(ours)] == [(key, theirs[key].status) for key in sorted(theirs)]


@pytest.mark.parametrize(
    ("setting", "said"),
    [
        ("actions.strategy.filters.minimumLength=4", "not a setting of stage 2"),
        ("reports.recallAt=[3]", "ci-eval report --set"),
        ("language=java", "not a setting of stage 2"),
        ("interpret.timeout=-1", "timeout"),
        ("colour=red", "not a key of a configuration"),
    ],
)
def test_what_stage_2_does_not_read_is_refused(setting: str, said: str, stage_1: Path, tmp_path: Path) -> None:
    code, _, err = command("interpret", stage_1, "--set", setting, "--output", tmp_path / "o")
    assert (code, said in " ".join(err.split())) == (2, True), err
    assert not (tmp_path / "o").exists()


def test_settings_need_a_workspace_of_their_own(stage_1: Path) -> None:
    code, _, err = command("interpret", stage_1, "--set", "timeout=2")
    assert (code, "add --output DIR" in " ".join(err.split())) == (2, True)


def test_actions_that_do_not_fit_a_user_or_a_seed_are_refused(tmp_path: Path) -> None:
    project = write(tmp_path / "p", one__py=GREETER)
    argv = ("actions", "--project", f"path:{project}", "--engine", "words")
    code, _, err = command(*argv, "--output", tmp_path / "a")
    assert code == 0, err
    code, _, err = command("interpret", tmp_path / "a", "--set", "userModel=thesis", "--output", tmp_path / "o")
    assert (code, "prefix={name:EveryPrefix}" in "".join(err.split())) == (2, True), err
    # Which parts of a file do not exist yet is sampled with the seed.
    evolving = ("--set", "actions.strategy.evolution={what: definitions, share: 0.5}")
    code, _, err = command(*argv, *evolving, "--output", tmp_path / "b")
    assert code == 0, err
    code, _, err = command("interpret", tmp_path / "b", "--set", "seed=9", "--output", tmp_path / "o")
    assert (code, "sampled with the seed 0" in " ".join(err.split())) == (2, True), err
