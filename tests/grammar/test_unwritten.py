"""What is not written yet: remainders and parts."""

from __future__ import annotations

import pytest

from ci_eval.core.catalogs import languages
from ci_eval.core.contracts import Shape
from ci_eval.core.grammar.unwritten import (
    Part,
    among,
    definitions,
    lines,
    remainders,
    select_statements,
    statements_on_a_line,
)
from ci_eval.plugins.languages import java, python

JAVA = 'class A {\n  void a() {\n    call(one, "two");\n    more();\n  }\n  int b = f(1);\n}\n'


@pytest.mark.parametrize(
    ("typed", "tail", "rest"),
    [
        ("call(one", ");", "\n  }\n  int b = f(1);\n}\n"),
        ("int b = f", ";", "\n}\n"),
        ("class A", "{}", "\n"),
        ("more();", "", "\n  }\n  int b = f(1);\n}\n"),
    ],
)
def test_the_rest_of_a_function_or_statement_is_missing_and_what_is_open_is_closed(
    typed: str, tail: str, rest: str
) -> None:
    assert java.LANGUAGE.shape
    (found,) = remainders(JAVA, "java", java.LANGUAGE.shape, [JAVA.index(typed) + len(typed)])
    assert (found.tail, JAVA[found.end :]) == (tail, rest)


def test_a_type_of_node_may_count_below_one_parent_only() -> None:
    types = frozenset({"block", "class body"})
    found = [among(types, parent, child) for parent, child in (("class", "body"), ("enum", "body"), ("any", "block"))]
    assert found == [True, False, True]


TEXT = "import os\nname = 'é'\n\ndef first():\n    return os\n\nlast = (1,\n        2)\n"


@pytest.fixture
def shape() -> Shape:
    assert python.LANGUAGE.shape
    return python.LANGUAGE.shape


def texts(parts: list[Part], text: str = TEXT) -> list[str]:
    return [text[begin:end] for begin, end in parts]


def test_lines_are_those_that_are_not_blank() -> None:
    assert "".join(texts(lines(TEXT))) == TEXT.replace("\n\n", "\n")


def test_a_statement_on_a_line_leaves_a_file_that_still_parses() -> None:
    assert texts(statements_on_a_line(TEXT, "python")) == ["import os\n", "name = 'é'\n", "    return os\n"]


def test_definitions_are_whole_functions(shape: Shape) -> None:
    assert texts(definitions(TEXT, "python", shape)) == ["def first():\n    return os\n"]


def test_statements_are_found_by_what_stands_in_them(shape: Shape) -> None:
    places = [TEXT.index("é"), TEXT.index("return"), TEXT.index("2)")]
    assert texts(select_statements(TEXT, "python", shape, places)) == ["name = 'é'\n", "last = (1,\n        2)\n"]


def test_definitions_in_broken_code_do_not_overlap() -> None:
    """An ERROR that holds a lambda and a class is no function, since statements stand in it by themselves."""
    text = "D\n){{}\ninternal class {\noverride fun p(:l<T>{}\n}"
    kotlin = languages.CATALOG.load("kotlin").shape
    assert kotlin
    assert texts(definitions(text, "kotlin", kotlin), text) == ["override fun p(:l<T>{}\n"]
