"""A judge is compared with people, who do not see what it said."""

from __future__ import annotations

import json
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any

import pytest

from ci_eval.jobs.models import COLUMNS, VERDICTS
from ci_eval.plugins.mining.reviews import verdicts as human
from tests.adapters.endpoints.scripted import says, serve
from tests.command import command

COMMENTS = ["It leaks a file.", "The leak is here.", "=Too slow", "A bad name.", "Say nothing."]


def judge(handler: BaseHTTPRequestHandler, body: dict[str, Any]) -> None:
    """Accepts what speaks of a leak; gives no verdict on what says nothing."""
    comment = body["messages"][0]["content"].rpartition(" GIVEN>\n")[2].partition("\n</")[0]
    verdict = "same" if "leak" in comment else "different"
    says("Hard to tell." if "nothing" in comment else f"As I see it.\nVERDICT: {verdict}")(handler, body)


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    line = {"id": 1, "context": {"diff": "+ open(path)"}, "references": ["The file is never closed."]}
    (tmp_path / "reviews.jsonl").write_text(json.dumps(line))
    answer = "\n".join(f"{number}. {comment}" for number, comment in enumerate(COMMENTS, 1))
    with serve(says(answer)) as model, serve(judge) as judging:
        options = [
            option
            for key, endpoint in (("engine", model), ("judge", judging))
            for option in ("--set", f"{key}.endpoint={endpoint.address}", "--set", f"{key}.model=tiny")
        ]
        asked = ("evaluate", "--task", "code-review", "--dataset", tmp_path / "reviews.jsonl", "--jobs", 1)
        assert command(*asked, *options, "--output", tmp_path / "out")[0] == 0
    return tmp_path / "out"


def fill(path: Path, verdicts: dict[str, str]) -> None:
    rows = human.read(path, VERDICTS)
    for row in rows.values():
        row["verdict"] = verdicts.get(row["comment"].lstrip("'"), "")
    human.write_rows(path, COLUMNS, rows.values(), ())


def test_people_get_the_comments_without_what_the_judge_said(tmp_path: Path, workspace: Path) -> None:
    code, _, said = command("agreement", workspace, tmp_path / "ann.csv")
    assert code == 0
    assert "5 comments wait for a verdict (same or different)" in " ".join(said.split())
    rows = [*human.read(tmp_path / "ann.csv", VERDICTS).values()]
    assert {row["comment"] for row in rows} == {*COMMENTS, "'=Too slow"} - {"=Too slow"}
    assert {(row["verdict"], row["change"], row["expected"]) for row in rows} == {
        ("", "'+ open(path)", "The file is never closed.")
    }
    assert "VERDICT" not in (tmp_path / "ann.csv").read_text()


def test_all_reviewers_get_the_same_sample(tmp_path: Path, workspace: Path) -> None:
    assert command("agreement", workspace, tmp_path / "a.csv", "--limit", 3)[0] == 0
    assert command("agreement", workspace, tmp_path / "b.csv", "--limit", 3)[0] == 0
    first, second = ((tmp_path / name).read_bytes() for name in ("a.csv", "b.csv"))
    assert first == second
    assert len(human.read(tmp_path / "a.csv", VERDICTS)) == 3


def test_the_judge_and_each_two_people_are_compared_on_what_both_decided(tmp_path: Path, workspace: Path) -> None:
    paths = (tmp_path / "ann.csv", tmp_path / "bo.csv")
    assert command("agreement", workspace, *paths)[0] == 0
    fill(paths[0], dict(zip(COMMENTS, ("same", "different", "different", "same", "same"), strict=True)))
    fill(paths[1], dict(zip(COMMENTS[:2], ("same", "different"), strict=True)))
    code, told, _ = command("agreement", workspace, *paths)
    assert code == 0
    printed = " ".join(told.replace("—", "-").split())
    # The judge gave no verdict on one of five.
    assert "judge, ann 4 50.0% 0.00 - 1 different/same, 1 same/different" in printed
    assert "judge, bo 2 50.0% 0.00 - 1 same/different" in printed
    assert "ann, bo 2 100.0% 1.00 - -" in printed


def test_a_table_of_another_workspace_is_refused(tmp_path: Path, workspace: Path) -> None:
    (tmp_path / "other.csv").write_text("id,verdict,change,expected,comment\nffff-1,same,,,\n")
    code, _, said = command("agreement", workspace, tmp_path / "other.csv")
    assert (code, "it was made from another workspace" in " ".join(said.split())) == (2, True)


def test_a_workspace_without_a_judge_has_nothing_to_compare(tmp_path: Path) -> None:
    (tmp_path / "p").mkdir()
    (tmp_path / "p" / "a.py").write_text("import os\nos.path\n")
    asked = ("evaluate", "--engine", "words", "--language", "python", "--project", f"path:{tmp_path / 'p'}")
    assert command(*asked, "--output", tmp_path / "out")[0] == 0
    assert command("agreement", tmp_path / "out", tmp_path / "ann.csv")[0] == 3
