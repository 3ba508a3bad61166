"""What is special about Python."""

from __future__ import annotations

from ci_eval.languages.python import LANGUAGE


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
