"""Foreign text in Markdown is shown as it is."""

from __future__ import annotations

import pytest

from ci_eval.rendering.markdowntext import code, prose
from tests.reports.samples import HOSTILE, NASTY


@pytest.mark.parametrize("text", [*HOSTILE, NASTY])
def test_code_is_one_line_without_pipes(text: str) -> None:
    assert len(code(text).splitlines()) == 1
    assert "|" not in code(text)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a/b_c.py", "`a/b_c.py`"),
        ("@someone", "`@someone`"),
        ("a|b", "<code>a&#124;b</code>"),
        ("a`b", "<code>a&#96;b</code>"),
        ("a\\|<b>", "<code>a&#92;&#124;&#60;b&#62;</code>"),
        ("a\nb", "`a\N{REPLACEMENT CHARACTER}b`"),
        ("", ""),
    ],
)
def test_code_shows_text_as_it_is(text: str, shown: str) -> None:
    assert code(text) == shown


def test_a_long_text_keeps_its_begin_and_end() -> None:
    assert code("a" * 300 + "z.py", 20) == "`aaaaaaaaaa…aaaaaz.py`"


@pytest.mark.parametrize("text", ["jedi 0.19.2 on stack, full line", "Mean of 1 / rank (0 if absent): found only"])
def test_a_text_of_words_alone_is_written_as_it_is(text: str) -> None:
    assert prose(text) == text


@pytest.mark.parametrize("text", ["@me", "#1", "a: :smile:", "www.example.invalid", "GH-1", "<b>", "[x](y)", "__x__"])
def test_what_github_would_make_something_of_becomes_code(text: str) -> None:
    assert prose(text) == f"`{text}`"
