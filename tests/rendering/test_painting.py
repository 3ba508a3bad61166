"""How a source is told to a script that paints it."""

from __future__ import annotations

from ci_eval.core.rendering.painting import encode_stretches


def test_stretches_are_told_by_the_gaps_before_them_and_their_lengths() -> None:
    text = "if name:  # as\n" + 40 * "x"
    assert encode_stretches([(0, 2, "K"), (10, 14, "C"), (15, 55, "S")], text, 0, len(text)) == "K.2C8.4S1.14"


def test_a_page_has_the_part_of_them_that_is_on_it() -> None:
    text = "abcdefghij"
    assert encode_stretches([(0, 4, "S"), (6, 9, "C")], text, 2, 8) == "S.2C2.2"


def test_lengths_are_those_of_scripts() -> None:
    assert encode_stretches([(1, 2, "S"), (3, 4, "C")], "\N{GRINNING FACE}\N{GRINNING FACE} c", 0, 4) == "S2.2C1.1"
