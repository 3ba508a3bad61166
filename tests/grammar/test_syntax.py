"""The parsers of the bundles."""

from __future__ import annotations

import pytest

from ci_eval.core.grammar.reading import lost_bytes
from ci_eval.core.grammar.syntax import parser

pytestmark = pytest.mark.grammar

GOOD = b"type E = X match\n  case A => t\n  case B => C\ndef f = z\n"
BAD = b"type E = X match {\n  case A => t\n  case B => C\n}\ndef f = z\n"


def test_a_text_is_read_the_same_after_one_with_errors() -> None:
    trees = [parser("scala").parse(text).root_node for text in (GOOD, BAD, GOOD)]
    assert lost_bytes(trees[1])
    assert [lost_bytes(trees[0]), lost_bytes(trees[2])] == [0, 0]
