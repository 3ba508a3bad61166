"""Marks and directives as people write them in source files, and the messages for bad ones."""

from __future__ import annotations

import pytest

from ci_eval.core.base.errors import ConfigError
from ci_eval.core.contracts import WORD
from ci_eval.core.interpret.cases import check_case, read_cases
from ci_eval.core.model import Kind, Lookup, Properties, Session, Status, Suggestion


def shown(*suggestions: Suggestion) -> Session:
    lookup = Lookup(prefix="", total=len(suggestions), rank=None, latency=1.0, suggestions=suggestions)
    properties = Properties(kind=Kind.RECORD)
    return Session(
        id="1", file="a.py", offset=0, expected_text="x", properties=properties, status=Status.OK, lookups=(lookup,)
    )


def reasons(text: str, *suggestions: Suggestion) -> list[str]:
    (case,) = read_cases(text, "a.py", "python")
    return check_case(case, shown(*suggestions), WORD)


def test_the_caret_is_above_the_mark_and_no_engine_reads_the_directives() -> None:
    (case,) = read_cases(
        "import os\nos.pa\n#    ^ expect: path; rank <= 3\n#      not: print\nx = 1\n", "a.py", "python"
    )
    assert (case.line, case.text) == (2, "import os\nos.pa\n\n\nx = 1\n")
    assert case.text[: case.offset] == "import os\nos.pa"
    assert (case.expect, case.rank, case.barred) == (("path",), 3, ("print",))


def test_several_marks_may_be_below_one_line() -> None:
    cases = read_cases("ab.cd\n# ^ expect: ab\n#   ^ expect: cd", "a.py", "python")
    assert [(case.line, case.offset) for case in cases] == [(1, 2), (1, 4)]


def test_a_line_of_code_below_another_sign_of_comment_is_left_as_it_is() -> None:
    (case,) = read_cases("  x.\n//  ^ expect: y\n#include <map>\n", "a.cpp", "cpp")
    assert case.text == "  x.\n\n#include <map>\n"


@pytest.mark.parametrize(
    ("line", "expect", "module"),
    [("TypeVa<CURSOR: typing.TypeVar>", "TypeVar", "typing"), ("foo<CURSOR: food>", "food", "")],
)
def test_the_cursors_of_ty_are_read(line: str, expect: str, module: str) -> None:
    (case,) = read_cases(f"{line}\n# Why that is so.\n", "a.py", "python")
    assert (case.expect, case.module) == ((expect,), module)
    assert case.text == f"{line.partition('<')[0]}\n# Why that is so.\n"


def test_the_marks_of_clangd_are_read_if_directives_are_below() -> None:
    (case,) = read_cases("int a = b ^ c;\nfoo.^bar\n// expect: baz\n", "a.cc", "cpp")
    assert (case.line, case.text) == (2, "int a = b ^ c;\nfoo.bar\n\n")


@pytest.mark.parametrize(
    ("directives", "message"),
    [
        ("expct: path", "a.py:2: 'expct: path' is not a directive"),
        ("", "a.py:2: a case needs directives"),
        ("rank <= 0", "a.py:2: 'rank <= 0' is not a directive"),
        ("silent; not: a", "a.py:2: `silent` allows no other directive"),
        ("rank <= 3", "a.py:2: `rank` needs one expected name"),
        ("expect: a, b; leaves: a", "a.py:2: `leaves` needs one expected name"),
        ("expect: a\n# expect: b", "a.py:3: expect is given twice"),
        ("expect: a\n# a remark", "a.py:3: 'a remark' is not a directive"),
    ],
)
def test_a_bad_directive_is_named_with_its_line(directives: str, message: str) -> None:
    with pytest.raises(ConfigError) as caught:
        read_cases(f"os.pa\n#    ^ {directives}\n", "a.py", "python")
    assert message in str(caught.value)


@pytest.mark.parametrize("text", ["# ^ expect: a", "a\n#    ^ expect: a"])
def test_a_mark_below_no_character_is_an_error(text: str) -> None:
    with pytest.raises(ConfigError, match="no code above the mark"):
        read_cases(text, "a.py", "python")


PATH, CALL = Suggestion(text="path"), Suggestion(text="path", tail="=")


def test_a_name_that_leaves_more_counts_only_if_none_leaves_it_alone() -> None:
    assert reasons("pa\n# ^ expect: path; rank <= 1", CALL, PATH) == ["path has rank 2; first path, path"]
    assert reasons("pa\n# ^ expect: path; rank <= 1", CALL) == []


def test_the_line_after_acceptance_has_what_the_range_damages() -> None:
    spoiled = Suggestion(text="pathth")
    assert reasons("os.path()\n#    ^ expect: pathth; leaves: os.path()", spoiled) == ["acceptance leaves os.pathth()"]
    removing = Suggestion(text="path", tail="⌫()⇡import os")
    assert reasons("os.path()\n#    ^ expect: path; leaves: os.path", removing) == []


def test_a_module_is_found_in_what_acceptance_adds_by_single_characters() -> None:
    text = "import for\npath\n#   ^ expect: path; module: go/format"
    piecewise = Suggestion(text="path", edits=((7, 0, "go/"), (9, 0, "r"), (10, 0, "mat")))
    assert reasons(text, Suggestion(text="path"), piecewise) == [
        "path is not offered with an import from go/format; first path, path"
    ]
    assert reasons(text, Suggestion(text="path", edits=((7, 3, "go/format"),))) == []


def test_silence_is_about_what_begins_as_typed() -> None:
    assert reasons("def ta\n#     ^ silent", Suggestion(text="data")) == []
    assert reasons("def ta\n#     ^ silent", Suggestion(text="TabError")) == [
        "suggestions that begin as typed: 1; first TabError"
    ]
    assert reasons("1.\n# ^ silent", Suggestion(text="real")) == ["suggestions that begin as typed: 1; first real"]


def test_a_text_is_compared_with_all_that_acceptance_leaves() -> None:
    assert reasons("d['n']\n#   ^ text: name']", Suggestion(text="name", tail="']")) == []
    assert reasons("d['n']\n#   ^ text: name']", Suggestion(text="names"))[0].startswith("name'] is not offered")
