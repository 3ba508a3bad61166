"""Where a line, a statement and a block end."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ci_eval.core.model import Span
from ci_eval.core.text_spans import Lines, cut, extent, is_whole

PYTHON = "if a:\n        b(1,\n          2)\n\n        c()\n    else:\n        d()\n"


@pytest.mark.parametrize(
    ("text", "before", "span", "wanted"),
    [
        ("name_1.other", "", "word", "name_1"),
        (" name", "", "word", ""),
        ("größe + 1", "", "word", "größe"),
        ("a = b  \nc", "", "line", "a = b"),
        ("\nc", "", "line", ""),
        ("f(a,\n  b)  \nc", "x = ", "statement", "f(a,\n  b)"),
        ("a; b;", "", "statement", "a;"),
        ("for (;;) { a; }\nb", "", "statement", "for (;;) { a; }"),
        ("x)\ny", "f(", "statement", "x)"),
        ("')('\nb", "a = ", "statement", "')('"),
        ("'''(\n'''\nb", "a = ", "statement", "'''(\n'''"),
        ("a + \\\n  b\nc", "", "statement", "a + \\\n  b"),
        ("a  # don't\nb", "", "statement", "a  # don't"),
        (PYTHON, "    ", "block", "if a:\n        b(1,\n          2)\n\n        c()"),
        ("(a) {\n    b();\n  }\n  c();\n", "  if ", "block", "(a) {\n    b();\n  }"),
        ("(a) {\n    b();\n  } else {\n    c();\n  }\n", "  if ", "block", "(a) {\n    b();"),
        ("do\n  b\nend\nc\n", "a ", "block", "do\n  b\nend"),
        ("a\nb\n", "  ", "block", "a"),
        ("a\n\nb", "", "text", "a\n\nb"),
    ],
)
def test_what_belongs_together(text: str, before: str, span: Span, wanted: str) -> None:
    assert cut(text, before, span) == wanted


@pytest.mark.parametrize(
    ("text", "span", "whole"),
    [
        ("name", "word", False),
        ("name(", "word", True),
        ("a = b", "line", False),
        ("a = b\n", "line", True),
        ("f(a,\n", "statement", False),
        ("f(a)\n", "statement", True),
        ("if a:\n  b", "block", False),
        ("if a:\n  b\nc", "block", True),
        ("if (a) {\n  b\n}", "block", False),
        ("anything", "text", False),
    ],
)
def test_whether_more_could_belong_to_it(text: str, span: Span, whole: bool) -> None:
    assert is_whole(text, "", span) == whole


@given(st.text(alphabet="ab(){};'\"\n  \\", max_size=40), st.sampled_from(["word", "line", "statement", "block"]))
def test_what_was_cut_is_cut_no_further_and_a_longer_text_changes_nothing_behind_an_end(text: str, span: Span) -> None:
    found = cut(text, "", span)
    assert cut(found, "", span) == found
    if is_whole(text, "", span):
        assert cut(text + "x", "", span) == found


@given(
    st.text(alphabet="ab(){};\n \t\"'", max_size=40), st.sampled_from(["word", "line", "statement", "block", "text"])
)
def test_the_extent_is_what_is_taken_but_for_blanks_at_ends_of_lines(text: str, span: Span) -> None:
    taken = text[: extent(text, "", span)]
    assert "\n".join(line.rstrip() for line in taken.split("\n")) == cut(text, "", span)


@given(st.text(alphabet="a\n\r\u2028😀", max_size=30), st.data())
def test_a_place_is_what_counting_gives(text: str, data: st.DataObject) -> None:
    offset = data.draw(st.integers(0, len(text)))
    before = text[:offset]
    assert Lines(text).place(offset) == (before.count("\n") + 1, len(before.rpartition("\n")[2]))
