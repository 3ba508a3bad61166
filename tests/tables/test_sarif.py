"""Misses as SARIF: the structure that version 2.1.0 demands, and each at the place of its token."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import jsonschema
import pytest

from ci_eval import tasks
from ci_eval.model import Session
from ci_eval.observing import outcome
from ci_eval.tables.sarif import LEVELS
from ci_eval.workspace import Workspace
from tests.command import command
from tests.projects import sessions as stored
from tests.projects import write

TEXT = {"type": "object", "required": ["text"], "properties": {"text": {"type": "string", "minLength": 1}}}
COUNT = {"type": "integer", "minimum": 1}


def closed(required: str, optional: str = "", **properties: object) -> dict[str, Any]:
    """An object with these properties alone, of the required ones all."""
    names = [*required.split(), *optional.split()]
    found = {name: properties.get(name.lstrip("$"), {}) for name in names}
    return {"type": "object", "additionalProperties": False, "required": required.split(), "properties": found}


# The official schema is in no package that the tests install; this has what it says of the objects that are written.
RESULT = closed(
    "ruleId ruleIndex level message locations partialFingerprints properties",
    level={"enum": ["none", "note", "warning", "error"]},
    ruleIndex={"type": "integer", "minimum": -1},
    message=TEXT,
    locations={
        "type": "array",
        "items": closed(
            "physicalLocation",
            physicalLocation=closed(
                "artifactLocation region",
                artifactLocation=closed("uri uriBaseId", uri={"type": "string", "format": "uri-reference"}),
                region=closed(
                    "startLine startColumn endLine endColumn",
                    startLine=COUNT,
                    startColumn=COUNT,
                    endLine=COUNT,
                    endColumn=COUNT,
                ),
            ),
        ),
    },
    partialFingerprints={"type": "object", "additionalProperties": {"type": "string"}},
)
RULE = closed("id shortDescription defaultConfiguration", shortDescription=TEXT)
DRIVER = closed("name semanticVersion rules", rules={"type": "array", "items": RULE, "uniqueItems": True})
RUN = closed(
    "tool automationDetails columnKind results properties",
    tool=closed("driver", driver=DRIVER),
    columnKind={"enum": ["utf16CodeUnits", "unicodeCodePoints"]},
    results={"type": "array", "items": RESULT},
)
SCHEMA = closed("$schema version runs", version={"const": "2.1.0"}, runs={"type": "array", "items": RUN})
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
    jsonschema.validate(log, SCHEMA)
    (run,) = log["runs"]
    return run  # type: ignore[no-any-return]


def missed(night: Path) -> dict[str, Session]:
    return {each.id: each for each in stored(Workspace(night)) if outcome(TASK, each) in LEVELS}


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
        (("--format", "csv", "--most", 3), "--filter and --most go with --format sarif"),
    ],
)
def test_what_cannot_be_is_said(night: Path, tmp_path: Path, options: tuple[object, ...], message: str) -> None:
    code, _, said = command("export", night, *options, "--output", tmp_path / "out")
    assert code == 2
    assert message in " ".join(said.split())
    assert not (tmp_path / "out").exists()
