"""What is not typed yet behind a token, and what closes all that is open."""

from __future__ import annotations

import pytest

from ci_eval.core.grammar.remainder import among, remainders
from ci_eval.plugins.languages import java

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
