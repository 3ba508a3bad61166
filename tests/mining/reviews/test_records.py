"""Review comments become records, and every other comment is told why not."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ci_eval.plugins.mining.reviews.api import Api
from ci_eval.plugins.mining.reviews.records import (
    Block,
    Mined,
    Repository,
    Selection,
    Source,
    block_diff,
    find_language,
    format_diff,
    innermost_block,
    parse,
    records,
)
from tests.ci.github_description import mistakes, operation, parameters, response
from tests.mining.reviews.github import NEW, OLD, ROUTES, GitHub, matching, patch

ALL = frozenset({"python", "go", "java", "scala"})


def mined(github: GitHub, answers: Iterable[str] | None = None, **given: Any) -> Mined:
    left = iter(answers or ())
    selection = Selection(**{"languages": ALL, **given})
    repository = Repository(Api("", github.address), "o/r")
    return records(repository, "MIT", selection, (lambda _: next(left)) if answers is not None else None)


def fates(github: GitHub, answers: Iterable[str] | None = None, **given: Any) -> dict[str, int]:
    return {str(fate): count for fate, count in (+mined(github, answers, **given).outcomes).items()}


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
        "source": "line",
        "lines": (6, 6),
        "createdAt": "2026-01-01T00:00:01Z",
        "split": "test",
        "diffBlockWithArrow": block.replace("items[:n]", "items[:n]        <----------"),
        "block": "function",
        "fullDiff": patch(OLD, NEW),
    }


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


def test_a_line_outside_of_all_blocks_is_shown_in_its_hunk(github: GitHub) -> None:
    github.comment(line=2)
    (line,) = mined(github).lines
    assert line.meta["block"] == "hunk"
    assert line.context["diff_block"].startswith(" import os\n+import sys\n \n")


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


def test_the_same_comment_on_the_same_change_is_kept_once(github: GitHub) -> None:
    for _ in range(2):
        github.comment()
    assert fates(github) == {"kept": 1, "duplicate": 1}


def test_of_many_comments_the_seed_draws_and_the_rest_is_not_asked_for(github: GitHub) -> None:
    for number in range(9):
        github.comment(f"Comment {number}.")
    chosen = {seed: {line.references for line in mined(github, limit=3, seed=seed).lines} for seed in (0, 1)}
    assert chosen[0] != chosen[1]
    assert fates(github, limit=3) == {"kept": 3, "not looked at": 6}


def test_each_thing_is_asked_for_once(github: GitHub) -> None:
    for number in range(3):
        github.comment(f"Comment {number}.")
    mined(github)
    assert [matching(urlsplit(target).path)[0].rpartition("}/")[2] for target, _ in github.asked] == [  # type: ignore[index]
        "pulls/comments", "pulls/{pull_number}", "compare/{basehead}", "contents/{path}",
    ]  # fmt: skip


def test_a_model_leaves_out_what_it_drops_and_what_it_says_unclearly(github: GitHub) -> None:
    for number in range(3):
        github.comment(f"Comment {number}.")
    answers = ["VERDICT: keep", "VERDICT: drop", "keep"]
    assert fates(github, answers) == {"kept": 1, "not self-contained": 1, "no verdict": 1}


def test_people_decide_before_the_model_does(github: GitHub) -> None:
    for number in range(2):
        github.comment(f"Comment {number}.")
    one, two = (line.id for line in mined(github).lines)
    assert fates(github, [], verdicts={one: "accept", two: "reject"}) == {"kept": 1, "rejected": 1}


def test_where_only_what_is_accepted_counts_the_rest_waits(github: GitHub) -> None:
    github.comment()
    found = mined(github, only_accepted=True)
    assert +found.outcomes == {"not accepted yet": 1}
    assert [line.references for line in found.undecided] == [("Why?",)]
    assert fates(github, only_accepted=True, verdicts={found.undecided[0].id: "accept"}) == {"kept": 1}


def diff_of(path: str = "box.py") -> str:
    return f"--- a/{path}\n+++ b/{path}\n{patch(OLD, NEW)}\n"


def test_a_comment_on_a_pull_request_is_about_all_that_had_changed_by_then(github: GitHub) -> None:
    github.comment_on_pull("It needs a test.")
    github.comment_on_pull("Too early.", created="2025-12-31T00:00:00Z")
    github.comment_on_pull("No change.", html_url="https://github.com/o/r/issues/5#issuecomment-3")
    dataset = mined(github, sources=("pull-request",))
    (line,) = dataset.lines
    assert line.context == {"diff_block": diff_of(), "language": "python", "path": "box.py"}
    assert (line.meta["commit"], line.meta["source"], line.meta["block"]) == ("1" * 40, "pull-request", "change")
    assert "lines" not in line.meta
    assert {str(fate): count for fate, count in (+dataset.outcomes).items()} == {
        "kept": 1,
        "no diff": 1,
        "on an issue": 1,
    }


@pytest.mark.parametrize(
    ("texts", "expected"),
    [
        ({"box.py": (OLD, NEW), "readme.md": ("a\n", "b\n")}, "kept"),
        ({"box.py": (OLD, NEW), "box.go": ("a\n", "b\n")}, "several languages"),
        ({"readme.md": ("a\n", "b\n")}, "other language"),
        ({"box.py": ("a\n", "b" * 70_000 + "\n")}, "long block"),
        ({}, "no diff"),
    ],
)
def test_a_whole_change_is_shown_if_it_is_in_one_language(
    github: GitHub, texts: dict[str, tuple[str, str | bytes]], expected: str
) -> None:
    github.comment_on_pull()
    github.texts = texts
    assert fates(github, sources=("pull-request",)) == {expected: 1}


def test_a_comment_on_a_commit_is_about_its_line_or_about_the_whole(github: GitHub) -> None:
    # The patch: a context line, an added one, three of context, then `take`: one line, a removed one, two added ones.
    position = patch(OLD, NEW).split("\n").index("+    found = items[:n]")
    github.comment_on_commit("Too long a name.", position=position, path="box.py")
    github.comment_on_commit("Split it.")
    github.comment_on_commit("Gone.", position=position - 1, path="box.py")
    github.comment_on_commit("Outdated.", path="box.py")
    github.comment_on_commit("Ruby.", position=1, path="box.rb")
    dataset = mined(github, sources=("commit",))
    by_text = {line.references[0]: line for line in dataset.lines}
    line, whole = by_text["Too long a name."], by_text["Split it."]
    assert (line.meta["lines"], line.meta["block"], line.meta["source"]) == ((6, 6), "function", "commit")
    assert line.context["diff_block"].startswith(" def take(items, n):\n-    return items\n")
    assert whole.context["diff_block"] == diff_of()
    assert {str(fate): count for fate, count in (+dataset.outcomes).items()} == {
        "kept": 2, "on removed lines": 1, "on no line": 1, "other language": 1,
    }  # fmt: skip


def test_comments_of_all_kinds_with_one_number_are_different_samples(github: GitHub) -> None:
    github.comment("One.")
    github.comment_on_pull("Two.")
    github.comment_on_commit("Three.")
    lines = mined(github, sources=("line", "pull-request", "commit")).lines
    assert len({line.id for line in lines}) == 3


@pytest.mark.parametrize("source", ["pull-request", "commit"])
def test_authors_on_their_own_change_are_left_out_of_all_kinds(github: GitHub, source: Source) -> None:
    github.comment_on_pull()
    github.comment_on_commit()
    github.author = 1
    assert fates(github, sources=(source,)) == {"author's own": 1}


# ------------------------------------------------------------------------------ the stand-in is of GitHub's own API


@pytest.fixture
def known(github: GitHub) -> GitHub:
    """It was asked everything that we ask."""
    github.comment(original_start_line=5, start_side="RIGHT")
    github.comment("Reply", in_reply_to_id=1)
    github.page = 1
    repository = Repository(Api("", github.address), "o/r")
    assert repository.licence() == "MIT"
    github.comment_on_pull()
    github.comment_on_commit()
    github.comment_on_commit("Hm.", position=1, path="box.py")
    selection = Selection(languages=ALL, sources=("line", "pull-request", "commit"))
    assert records(repository, "MIT", selection).lines
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


LINES = st.lists(st.sampled_from(["a", "b", "  c", ""]), min_size=1, max_size=12)


def test_a_block_is_shown_with_what_was_removed_from_it_and_around_the_diff() -> None:
    lines = block_diff(parse(patch(OLD, NEW)), NEW.split("\n"), 5, 7)
    assert format_diff(lines) == " def take(items, n):\n-    return items\n+    found = items[:n]\n+    return found\n"
    assert format_diff(lines, range(6, 7)).split("\n")[2] == "+    found = items[:n]        <----------"


def test_what_was_removed_behind_the_last_line_of_a_block_belongs_to_it_if_it_is_indented() -> None:
    old, new = "def f():\n    a\n    b\n\nx\n", "def f():\n    a\nx\n"
    lines = block_diff(parse(patch(old, new)), new.split("\n"), 1, 2)
    assert format_diff(lines) == " def f():\n     a\n-    b\n"


@given(LINES, LINES)
def test_without_what_was_removed_a_block_is_the_new_text(old: list[str], new: list[str]) -> None:
    diff = parse(patch(*("".join(f"{line}\n" for line in each) for each in (old, new))))
    lines = block_diff(diff, new, 1, len(new))
    assert [line.text for line in lines if line.sign != "-"] == new
    assert sum(line.sign == "+" for line in lines) == sum(line.sign == "+" for line in diff)


@given(LINES, LINES)
def test_every_line_of_a_patch_is_read_with_its_number(old: list[str], new: list[str]) -> None:
    diff = parse(patch(*("".join(f"{line}\n" for line in each) for each in (old, new))))
    assert all(line.text == new[line.new - 1] for line in diff if line.sign != "-")
    assert sum(line.sign == "-" for line in diff) - sum(line.sign == "+" for line in diff) == len(old) - len(new)


PYTHON = """\
import os

@once
@twice
def f():
    a = 1
    def g():
        return 2

class C:
    x = 1
    def m(self): pass
"""
GO = "package p\n\ntype T struct {\n\ta int\n}\n\nfunc (t T) F() {\n\tx()\n}\n"
JAVA = "package p;\nclass C {\n  int a;\n  @Old\n  void f() {\n    x();\n  }\n  C() {\n    y();\n  }\n}\n"
SCALA = "package p\nobject O {\n  val a = 1\n  def f(n: Int) = {\n    n\n  }\n}\ntrait T {\n  def g: Int\n}\n"


@pytest.mark.parametrize(
    ("path", "text", "first", "last", "expected"),
    [
        ("a.py", PYTHON, 1, 1, None),
        ("a.py", PYTHON, 6, 6, Block(3, 8, "function")),
        ("a.py", PYTHON, 3, 3, Block(3, 8, "function")),
        ("a.py", PYTHON, 8, 8, Block(7, 8, "function")),
        ("a.py", PYTHON, 6, 8, Block(3, 8, "function")),
        ("a.py", PYTHON, 11, 11, Block(10, 12, "class")),
        ("a.py", PYTHON, 12, 12, Block(12, 12, "function")),
        ("a.py", PYTHON, 6, 11, None),
        ("a.go", GO, 4, 4, Block(3, 5, "class")),
        ("a.go", GO, 8, 8, Block(7, 9, "function")),
        ("A.java", JAVA, 3, 3, Block(2, 11, "class")),
        ("A.java", JAVA, 4, 6, Block(4, 7, "function")),
        ("A.java", JAVA, 9, 9, Block(8, 10, "function")),
        ("A.scala", SCALA, 3, 3, Block(2, 7, "class")),
        ("A.scala", SCALA, 5, 5, Block(4, 6, "function")),
        ("A.scala", SCALA, 8, 8, Block(8, 10, "class")),
    ],
)
def test_the_block_of_some_lines(path: str, text: str, first: int, last: int, expected: Block | None) -> None:
    language = find_language(path)
    assert language
    assert innermost_block(text.encode(), language, first, last) == expected


def test_other_languages_have_no_blocks() -> None:
    assert find_language("a.rb") is None
