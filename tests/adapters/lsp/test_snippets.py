"""What is left of a snippet."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ci_eval.plugins.adapters.lsp.snippets import expand


@pytest.mark.parametrize(
    ("snippet", "text", "firm"),
    [
        ("name", "name", 4),
        ("join(${1:parts})$0", "join(parts)", 5),
        ("go()$0", "go()", 4),
        ("value\\$", "value$", 6),
        ("a\\}b\\\\c\\d", "a}b\\c\\d", 7),
        ("${1|one,t\\,wo|}x", "onex", 0),
        ("${1:a${2:b}}c", "abc", 0),
        ("f(${TM_FILENAME:x}, $1)", "f(x, )", 5),
        ("el$x", "el", 2),
        ("x ${1/(.*)/\\U$1/g} y", "x  y", 2),
        ("cost $ 5 ${", "cost $ 5 ${", 11),
        ("${1:open", "${1:open", 8),
    ],
)
def test_placeholders_leave_their_default_text(snippet: str, text: str, firm: int) -> None:
    """As VS Code's SnippetParser 0.52.2 has it."""
    assert expand(snippet) == (text, firm)


@given(st.text("a$\\{}:|1,/ "))
def test_every_text_can_be_expanded(snippet: str) -> None:
    text, firm = expand(snippet)
    assert 0 <= firm <= len(text) <= len(snippet)
