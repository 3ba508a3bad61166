"""Comments, as MERA CODE's program takes them out, with its faults."""

from __future__ import annotations

import io
import sys
import tokenize
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from ci_eval.plugins.drivers.codebleu.comments import strip_comments

ROOT = Path(__file__).parents[3]
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


def original(text: str) -> str:
    """`remove_comments_and_docstrings` of Microsoft's CodeXGLUE, and its way with errors."""
    out, before, last_row, last_column = "", tokenize.INDENT, -1, 0
    try:
        for kind, token, (row, column), (end_row, end_column), _ in tokenize.generate_tokens(
            io.StringIO(text).readline
        ):
            last_column = 0 if row > last_row else last_column
            out += " " * (column - last_column)
            taken = kind == tokenize.STRING and (before in (tokenize.INDENT, tokenize.NEWLINE) or column == 0)
            out += "" if taken or kind == tokenize.COMMENT else token
            before, last_column, last_row = kind, end_column, end_row
    except (tokenize.TokenError, IndentationError):
        return text
    return "\n".join(line for line in out.split("\n") if line.strip())


@old
@given(st.lists(PIECES, max_size=30).map("".join))
@example("if x:\n  y = 'a\\\nb'\n z")
@example("a = '''x\n#'''# c\n   ")
@example("x = ')]\ny")
def test_of_pieces_of_code_the_same_is_left(text: str) -> None:
    assert strip_comments("python", text) == original(text)


@old
def test_of_modules_the_same_is_left() -> None:
    for text in map(Path.read_text, sorted((ROOT / "ci_eval" / "core").glob("*.py"))):
        assert strip_comments("python", text) == original(text)


def test_an_f_string_is_one_token_whatever_runs_this() -> None:
    assert strip_comments("python", 'x\nf"{{x}} {y!r:{z}}"  # z') == "x"


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
