"""Of a file's diff, the part that shows one block."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ci_eval.plugins.mining.reviews.diffs import (
    Block,
    add_arrows,
    block_diff,
    find_language,
    format_diff,
    innermost_block,
    parse,
)
from tests.mining.reviews.github import NEW, OLD, patch

LINES = st.lists(st.sampled_from(["a", "b", "  c", ""]), min_size=1, max_size=12)


def test_a_block_is_shown_with_what_was_removed_from_it_and_around_the_diff() -> None:
    lines = block_diff(parse(patch(OLD, NEW)), NEW.split("\n"), 5, 7)
    assert format_diff(lines) == " def take(items, n):\n-    return items\n+    found = items[:n]\n+    return found\n"
    assert add_arrows(lines, 6, 6).split("\n")[2] == "+    found = items[:n]        <----------"


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
