"""Misses as SARIF: what Microsoft's validator says of them, and each at the place of its token."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pytest

from ci_eval.core.catalogs import tasks
from ci_eval.core.model import Session
from ci_eval.core.scoring import outcome
from ci_eval.core.workspace import Workspace
from ci_eval.plugins.exports.sarif import LEVELS
from tests.ci.tools import run, sarif_multitool
from tests.command import command
from tests.projects import sessions as stored
from tests.projects import write

TASK = tasks.CATALOG.load("completion")


@pytest.fixture(scope="module")
def night(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("sarif")
    text = (
        'ärger = "😀"; total_of_all = ärger\nprint(total_of_all, ärger)\nprint(f"{total_of_all}", [total_of_all](1))\n'
    )
    project = write(root / "p", **{"a b__py": text, "b__py": "import os\nprint(os.path, os.sep)\n"})
    code, _, said = command("evaluate", "--project", f"path:{project}", "--engine", "words", "--output", root / "night")
    assert code == 0, said
    return root / "night"


def exported(night: Path, output: Path, *options: object) -> dict[str, Any]:
    code, _, said = command("export", night, "--format", "sarif", "--output", output, *options)
    assert code == 0, said
    log: dict[str, Any] = json.loads((output / "misses.sarif").read_text())
    (run,) = log["runs"]
    return run  # type: ignore[no-any-return]


def missed(night: Path) -> dict[str, Session]:
    return {each.id: each for each in stored(Workspace(night)) if outcome(TASK, each) in LEVELS}


@pytest.mark.registry
@pytest.mark.needs("npm")
@pytest.mark.parametrize("name", ["night", "half_read"])
def test_the_formats_own_validator_and_githubs_rules_find_no_fault(
    name: str, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    exported(request.getfixturevalue(name), tmp_path / "out")
    said = validated(tmp_path / "out" / "misses.sarif")
    # There is no address yet that says more of ci-eval.
    assert {each["ruleId"] for each in said} <= {"SARIF2005"}


@pytest.mark.registry
@pytest.mark.needs("npm")
def test_the_validator_finds_a_planted_fault(night: Path, tmp_path: Path) -> None:
    planted = exported(night, tmp_path / "out")
    planted["results"][0]["ruleIndex"] = 99
    (tmp_path / "planted.sarif").write_text(json.dumps({"version": "2.1.0", "runs": [planted]}))
    assert "SARIF1009" in {each["ruleId"] for each in validated(tmp_path / "planted.sarif")}


def validated(path: Path) -> list[dict[str, Any]]:
    """What it finds in a file."""
    found = path.with_suffix(".validated.sarif")
    rules = ["--rule-kind", "Sarif;Ghas", "--output", str(found), "--log", "ForceOverwrite"]
    # Its exit code tells nothing of faults; it needs no library of languages.
    run([str(sarif_multitool()), "validate", str(path), *rules], path.parent, DOTNET_SYSTEM_GLOBALIZATION_INVARIANT="1")
    return [each for part in json.loads(found.read_text())["runs"] for each in part["results"]]


def test_every_miss_is_a_result_at_the_place_of_its_token(night: Path, tmp_path: Path) -> None:
    run = exported(night, tmp_path / "out")
    wanted = missed(night)
    texts = {file.path: file.text.split("\n") for file in Workspace(night).sources()}
    assert {each["partialFingerprints"]["ciEvalSession/v1"] for each in run["results"]} == wanted.keys()
    for each in run["results"]:
        session = wanted[each["partialFingerprints"]["ciEvalSession/v1"]]
        place = each["locations"][0]["physicalLocation"]
        region = place["region"]
        line = texts[unquote(place["artifactLocation"]["uri"])][region["startLine"] - 1]
        assert line[region["startColumn"] - 1 : region["endColumn"] - 1] == session.expected_text
        assert run["tool"]["driver"]["rules"][each["ruleIndex"]]["id"] == each["ruleId"] == outcome(TASK, session)


def test_a_message_says_what_stood_first_instead(night: Path, tmp_path: Path) -> None:
    run = exported(night, tmp_path / "out")
    sessions = missed(night)
    for each in run["results"]:
        session = sessions[each["partialFingerprints"]["ciEvalSession/v1"]]
        text = each["message"]["text"]
        assert text.startswith(f"`{session.expected_text}`: ")
        if session.lookups[-1].suggestions:
            assert text.endswith(f"first was `{session.lookups[-1].suggestions[0].text}`")


def test_only_those_of_a_filter_or_the_worst_are_written(night: Path, tmp_path: Path) -> None:
    every = exported(night, tmp_path / "all")["results"]
    typed = exported(night, tmp_path / "typed", "--filter", "Prefix 1")["results"]
    assert 0 < len(typed) < len(every)
    code, out, said = command("export", night, "--format", "sarif", "--most", 2, "--output", tmp_path / "two")
    assert code == 0
    assert f"{len(every) - 2} more are left out" in " ".join(said.split())
    run = json.loads((tmp_path / "two" / "misses.sarif").read_text())["runs"][0]
    assert run["properties"]["leftOut"] == len(every) - 2
    weights = sorted(list(LEVELS).index(each["ruleId"]) for each in every)
    assert sorted(list(LEVELS).index(each["ruleId"]) for each in run["results"]) == weights[:2]
    assert "2 results" in out


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--format", "sarif", "--filter", "Prefx 1"), "there is no filter 'Prefx 1'"),
        (("--format", "csv", "--most", 3), "--most goes with --format sarif"),
    ],
)
def test_what_cannot_be_is_said(night: Path, tmp_path: Path, options: tuple[object, ...], message: str) -> None:
    code, _, said = command("export", night, *options, "--output", tmp_path / "out")
    assert code == 2
    assert message in " ".join(said.split())
    assert not (tmp_path / "out").exists()


@pytest.fixture(scope="module")
def half_read(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A workspace of a project with a file whose end no grammar reads."""
    root = tmp_path_factory.mktemp("unread")
    broken = "import os\nprint(os.sep)\n" + "class ) def ( in in = = ] lambda\n" * 40
    project = write(root / "p", **{"broken file__py": broken, "whole__py": "import os\nprint(os.path, os.sep)\n" * 30})
    options = ("--engine", "words", "--set", "actions.allowedUnparsable=1", "--output", root / "night")
    code, _, said = command("evaluate", "--project", f"path:{project}", *options)
    assert code == 0, said
    return root / "night"


def test_a_file_that_could_not_be_read_is_a_warning_of_the_run(half_read: Path, night: Path, tmp_path: Path) -> None:
    run = exported(half_read, tmp_path / "half")
    (invocation,) = run["invocations"]
    (notification,) = invocation["toolExecutionNotifications"]
    assert notification["level"] == "warning"
    assert "of this file could not be read" in notification["message"]["text"]
    (location,) = notification["locations"]
    assert location["physicalLocation"]["artifactLocation"]["uri"] == "broken%20file.py"
    assert run["properties"]["unparsable"] == round(Workspace(half_read).manifest().unparsable, 4) > 0.01
    assert "invocations" not in exported(night, tmp_path / "whole")
