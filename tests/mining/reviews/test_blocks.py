"""The block of a line is the innermost function or class around it."""

from __future__ import annotations

import pytest

from ci_eval.plugins.mining.reviews.blocks import Block, find_language, innermost_block

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
