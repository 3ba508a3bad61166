"""Comments, as MERA CODE's program takes them out, with its faults; and Python's tokens, as its own module found them
up to 3.11."""

from __future__ import annotations

import io
import sys
import tokenize
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from ci_eval.plugins.drivers.codebleu.comments import Token, Unreadable, read, strip_comments

ROOT = Path(__file__).parents[3]
KINDS = {tokenize.COMMENT: "comment", tokenize.STRING: "string", tokenize.NEWLINE: "newline", tokenize.INDENT: "indent"}
PIECES = st.sampled_from(
    [
        *"'\"#\\\n\t (){}[]:;.,=+-*/@!?$~\f\r",
        '"""',
        "'''",
        "rb'",
        'f"{',
        "\\\n",
        "    ",
        "x",
        "0x1f",
        "1e5j",
        ".5",
        "имя",
    ]
)
old = pytest.mark.skipif(sys.version_info >= (3, 12), reason="from Python 3.12 on, tokenize finds others")


def of_python(text: str) -> Iterator[Token]:
    for kind, token, begin, end, _ in tokenize.generate_tokens(io.StringIO(text).readline):
        if kind != tokenize.ENDMARKER:
            yield KINDS.get(kind, "other"), token, begin, end


def agree(text: str) -> bool:
    try:
        expected: list[Token] | None = list(of_python(text))
    except (tokenize.TokenError, IndentationError):
        expected = None
    try:
        found: list[Token] | None = list(read(text))
    except Unreadable:
        found = None
    return found == expected


@old
@given(st.lists(PIECES, max_size=30).map("".join))
@example("if x:\n  y = 'a\\\nb'\n z")
@example("a = '''x\n#'''# c\n   ")
@example("x = ')]\ny")
def test_pieces_of_code_have_the_same_tokens(text: str) -> None:
    assert agree(text)


@old
def test_modules_have_the_same_tokens() -> None:
    assert all(agree(path.read_text()) for path in sorted((ROOT / "ci_eval" / "core").glob("*.py")))


def test_an_f_string_is_one_token_whatever_runs_this() -> None:
    assert [token for kind, token, _, _ in read('f"{{x}} {y}"  # z') if kind == "string"] == ['f"{{x}} {y}"']


@pytest.mark.parametrize(
    ("language", "text", "left"),
    [
        ("python", 'def f():\n    """Doc."""\n    return "#"  # note\n', 'def f():\n    return "#"  '),
        ("python", 'x = [\n"first",\n"second"]', "x = [\n,\n]"),  # takes them for docstrings
        ("python", "x = (  # never closed\n", "x = (  # never closed\n"),
        ("java", 'f("//"); // note\n\n/* more\n */ g();', 'f("//");  \n  g();'),
        ("javascript", "f(`http://a`)", "f(`http: "),  # takes it for a comment
    ],
)
def test_what_is_left_of_a_text(language: str, text: str, left: str) -> None:
    assert strip_comments(language, text) == left
