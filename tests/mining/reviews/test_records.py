"""Review comments become records, and every other comment is told why not."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from ci_eval.plugins.mining.reviews.api import Api
from ci_eval.plugins.mining.reviews.records import Mined, Repository, Selection, assign_split, records
from tests.ci.github_description import mistakes, operation, parameters, response
from tests.mining.reviews.github import NEW, OLD, ROUTES, GitHub, matching, patch

ALL = frozenset({"python", "go", "java", "scala"})


def mined(github: GitHub, answers: Iterable[str] | None = None, **given: Any) -> Mined:
    left = iter(answers or ())
    selection = Selection(**{"languages": ALL, **given})
    repository = Repository(Api("", github.address), "o/r")
    return records(repository, "MIT", selection, (lambda _: next(left)) if answers is not None else None)


def fates(github: GitHub, answers: Iterable[str] | None = None, **given: Any) -> dict[str, int]:
    return {str(fate): count for fate, count in (+mined(github, answers, **given).fates).items()}


@pytest.mark.grammar
def test_a_comment_becomes_a_record_of_the_block_that_it_is_on(github: GitHub) -> None:
    github.comment("Too long a name.\r\n", line=6)
    (line,) = mined(github).lines
    block = " def take(items, n):\n-    return items\n+    found = items[:n]\n+    return found\n"
    assert (line.cluster, line.language, line.references) == ("o/r", "python", ("Too long a name.",))
    assert line.context == {"diff_block": block, "language": "python", "path": "box.py"}
    assert line.meta == {
        "project": "github:o/r",
        "licence": "MIT",
        "url": "https://github.com/o/r/pull/5#discussion_r1",
        "commit": "1" * 40,
        "path": "box.py",
        "lines": (6, 6),
        "createdAt": "2026-01-01T00:00:01Z",
        "split": "test",
        "diffBlockWithArrow": block.replace("items[:n]", "items[:n]        <----------"),
        "block": "function",
        "fullDiff": patch(OLD, NEW),
    }


@pytest.mark.grammar
@pytest.mark.parametrize(
    ("comment", "expected"),
    [
        ({}, "kept"),
        ({"line": 2}, "kept"),
        ({"path": "box.rb"}, "other language"),
        ({"in_reply_to_id": 3}, "reply"),
        ({"user": {"id": 2, "type": "Bot"}}, "bot"),
        ({"user": {"id": 7, "type": "User"}}, "author's own"),
        ({"user": None}, "kept"),
        ({"body": " \n"}, "empty"),
        ({"line": None}, "on no line"),
        ({"subject_type": "file"}, "on no line"),
        ({"side": "LEFT"}, "on removed lines"),
        ({"start_side": "LEFT"}, "on removed lines"),
        ({"line": 99}, "no diff"),
        ({"path": "other.py"}, "no diff"),
    ],
)
def test_every_comment_has_a_fate(github: GitHub, comment: dict[str, Any], expected: str) -> None:
    github.comment(**comment)
    assert fates(github) == {expected: 1}


@pytest.mark.grammar
def test_a_line_outside_of_all_blocks_is_shown_in_its_hunk(github: GitHub) -> None:
    github.comment(line=2)
    (line,) = mined(github).lines
    assert line.meta["block"] == "hunk"
    assert line.context["diff_block"].startswith(" import os\n+import sys\n \n")


@pytest.mark.grammar
def test_a_block_that_did_not_change_is_no_record(github: GitHub) -> None:
    github.texts["box.py"] = ("a\n\n\ndef f():\n    pass\n", "b\n\n\ndef f():\n    pass\n")
    github.comment(line=4)
    assert fates(github) == {"no change in the block": 1}


def test_a_file_that_is_gone_or_no_text_is_counted(github: GitHub) -> None:
    github.comment()
    github.gone = True
    assert fates(github) == {"no file": 1}
    github.texts["box.py"] = (OLD, b"\xff")
    assert fates(github) == {"no diff": 1}


@pytest.mark.grammar
def test_the_same_comment_on_the_same_change_is_kept_once(github: GitHub) -> None:
    for _ in range(2):
        github.comment()
    assert fates(github) == {"kept": 1, "duplicate": 1}


@pytest.mark.grammar
def test_of_many_comments_the_seed_draws_and_the_rest_is_not_asked_for(github: GitHub) -> None:
    for number in range(9):
        github.comment(f"Comment {number}.")
    chosen = {seed: {line.references for line in mined(github, limit=3, seed=seed).lines} for seed in (0, 1)}
    assert chosen[0] != chosen[1]
    assert fates(github, limit=3) == {"kept": 3, "not looked at": 6}


@pytest.mark.grammar
def test_each_thing_is_asked_for_once(github: GitHub) -> None:
    for number in range(3):
        github.comment(f"Comment {number}.")
    mined(github)
    assert [matching(urlsplit(target).path)[0].rpartition("}/")[2] for target, _ in github.asked] == [  # type: ignore[index]
        "pulls/comments", "pulls/{pull_number}", "compare/{basehead}", "contents/{path}",
    ]  # fmt: skip


@pytest.mark.grammar
def test_a_model_leaves_out_what_it_drops_and_what_it_says_unclearly(github: GitHub) -> None:
    for number in range(3):
        github.comment(f"Comment {number}.")
    answers = ["VERDICT: keep", "VERDICT: drop", "keep"]
    assert fates(github, answers) == {"kept": 1, "not self-contained": 1, "no verdict": 1}


@pytest.mark.grammar
def test_people_decide_before_the_model_does(github: GitHub) -> None:
    for number in range(2):
        github.comment(f"Comment {number}.")
    one, two = (line.id for line in mined(github).lines)
    assert fates(github, [], verdicts={one: "accept", two: "reject"}) == {"kept": 1, "rejected": 1}


@pytest.mark.grammar
def test_where_only_what_is_accepted_counts_the_rest_waits(github: GitHub) -> None:
    github.comment()
    found = mined(github, only_accepted=True)
    assert +found.fates == {"not accepted yet": 1}
    assert [line.references for line in found.undecided] == [("Why?",)]
    assert fates(github, only_accepted=True, verdicts={found.undecided[0].id: "accept"}) == {"kept": 1}


def test_repositories_are_split_about_as_asked(github: GitHub) -> None:
    selection = Selection(languages=ALL, shares=(80, 10, 10))
    counts = [assign_split(f"o/{number}", selection) for number in range(1000)]
    assert 750 < counts.count("train") < 850
    assert 70 < counts.count("test") < 130
    assert assign_split("O/5", selection) == assign_split("o/5", selection)


# ------------------------------------------------------------------------------ the stand-in is of GitHub's own API


@pytest.fixture
def known(github: GitHub) -> GitHub:
    """It was asked everything that we ask."""
    github.comment(original_start_line=5, start_side="RIGHT")
    github.comment("Reply", in_reply_to_id=1)
    github.page = 1
    repository = Repository(Api("", github.address), "o/r")
    assert repository.licence() == "MIT"
    assert records(repository, "MIT", Selection(languages=ALL, since="2011-01-01T00:00:00Z")).lines
    return github


@pytest.mark.registry
@pytest.mark.needs("npm")
def test_every_request_is_one_that_github_describes(known: GitHub) -> None:
    seen = set()
    for target, _ in known.asked:
        route = matching(urlsplit(target).path)
        assert route
        found = operation("GET", route[0])
        assert found
        for name, values in parse_qs(urlsplit(target).query).items():
            schema = parameters(found, "query")[name]
            assert mistakes(int(values[0]) if schema["type"] == "integer" else values[0], schema) == []
        seen.add(route[0])
    assert seen == set(ROUTES)


@pytest.mark.registry
@pytest.mark.needs("npm")
def test_every_answer_of_the_stand_in_is_one_that_github_describes(known: GitHub) -> None:
    for target, headers in list(known.asked):
        route = matching(urlsplit(target).path)
        assert route
        status, data, sent = known.answer(target, headers)
        if sent["content-type"] == "application/json":
            found = operation("GET", route[0])
            assert found
            schema = response(found, status)
            assert schema
            assert mistakes(json.loads(data), schema) == []
