"""Foreign text in a terminal."""

from __future__ import annotations

import pytest

from ci_eval.rendering.plaintext import line, lines


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain é 漢 😀", "plain é 漢 😀"),
        ("\x1b[2J", "\\x1b[2J"),
        ("a\rb", "a\\rb"),
        ("\u202eevil", "\\u202eevil"),
        ("\u2028", "\\u2028"),
        ("\udce9", "\\udce9"),
        ("नमस्\u200dते", "नमस्\u200dते"),
    ],
)
def test_what_would_move_hide_or_reorder_is_shown_by_number(text: str, shown: str) -> None:
    assert lines(text) == line(text) == shown


def test_line_ends_stay_or_are_shown() -> None:
    assert (lines("a\nb"), line("a\nb")) == ("a\nb", "a\\nb")
