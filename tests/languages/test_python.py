"""What is special about Python."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from ci_eval.plugins.languages.python import LANGUAGE


def test_what_the_grammar_cannot_read_is_measured_and_left_out() -> None:
    found = LANGUAGE.extract("good = ok\n!!! $$$\n", "a.py", {})
    assert [token.text for token in found.tokens] == ["ok"]
    assert 0 < found.unparsable < 1


def test_offsets_count_code_points() -> None:
    text = 'name = "𝒳é"\nprint(name)\n'
    assert [text[t.offset : t.offset + len(t.text)] for t in LANGUAGE.extract(text, "a.py", {}).tokens] == [
        "print",
        "name",
    ]


@given(text=st.text(max_size=300))
def test_every_token_stands_where_it_says(text: str) -> None:
    for token in LANGUAGE.extract(text, "a.py", {}).tokens:
        assert text[token.offset : token.offset + len(token.text)] == token.text
