"""Comments, as MERA CODE's program takes them out: with its faults."""

from __future__ import annotations

import pytest

from ci_eval.plugins.drivers.codebleu.comments import strip_comments


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
