"""The Python sample: every token that its comments state, and no other."""

from __future__ import annotations

from pathlib import Path

import pytest

from ci_eval.languages.python import LANGUAGE
from ci_eval.model import Kind, Token

SAMPLE = (Path(__file__).parent / "samples" / "python.py").read_text()
LINES = SAMPLE.split("\n")
TOKENS = LANGUAGE.extract(SAMPLE, "pkg/mod.py").tokens
STATED = [i for i, line in enumerate(LINES) if i > 2 and line.strip().startswith("# ")]


def on_line(number: int) -> list[Token]:
    return [token for token in TOKENS if SAMPLE.count("\n", 0, token.offset) == number]


def spelled(token: Token) -> str:
    known = token.properties
    static = {None: "", True: "static", False: "member"}[known.is_static]
    words = [token.text, known.kind.value, "argument" if known.is_argument else "", static, known.package or ""]
    return " ".join(filter(None, words))


@pytest.mark.parametrize("comment", STATED, ids=lambda i: LINES[i - 1].strip())
def test_the_tokens_of_a_line_are_as_stated(comment: int) -> None:
    stated = LINES[comment].strip().removeprefix("# ")
    keywords = [token for token in on_line(comment - 1) if token.properties.kind == Kind.KEYWORD]
    rest = [token for token in on_line(comment - 1) if token.properties.kind != Kind.KEYWORD]
    if stated.startswith("KEYWORDS: "):
        assert "KEYWORDS: " + " ".join(token.text for token in keywords) == stated
    else:
        assert " | ".join(map(spelled, rest)) == stated


def test_lines_that_state_nothing_have_keywords_only() -> None:
    silent = set(range(len(LINES))) - {i - 1 for i in STATED}
    assert {token.properties.kind for i in silent for token in on_line(i)} == {Kind.KEYWORD}


def test_what_the_grammar_cannot_read_is_measured_and_left_out() -> None:
    found = LANGUAGE.extract("good = ok\n!!! $$$\n", "a.py")
    assert [token.text for token in found.tokens] == ["ok"]
    assert 0 < found.unparsable < 1


def test_offsets_count_code_points() -> None:
    text = 'name = "𝒳é"\nprint(name)\n'
    assert [text[t.offset : t.offset + len(t.text)] for t in LANGUAGE.extract(text, "a.py").tokens] == ["print", "name"]
