"""How much of a file is shown."""

from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ci_eval.core.model.endpoints import WindowConfig
from ci_eval.plugins.adapters.endpoints.windows import Measure, compute_budget, head, tail, window

TEXT = "".join(f"line {number}\n" for number in range(100))


def shown(text: str, offset: int, measure: Measure = len, **given: Any) -> tuple[str, str]:
    seen = window(text, offset, WindowConfig(**given), measure)
    assert seen.left_out == len(text) - len(seen.prefix) - len(seen.suffix) or given.get("suffix") == 0
    return seen.prefix, seen.suffix


def words(text: str) -> int:
    """A tokenizer: each word, blank or sign is a token."""
    return len(re.findall(r"\w+|\W", text))


def test_a_window_is_of_whole_lines_around_the_caret() -> None:
    assert shown(TEXT, TEXT.index("50"), characters=60, suffix=0.5) == (
        "line 47\nline 48\nline 49\nline ",
        "50\nline 51\nline 52\nline 53\n",
    )


def test_what_one_side_does_not_need_the_other_gets() -> None:
    assert shown(TEXT, 0, characters=40, suffix=0.1) == ("", TEXT[:35])
    assert shown(TEXT, len(TEXT), characters=40, suffix=0.9) == (TEXT[-40:], "")


def test_without_a_share_for_it_there_is_no_suffix() -> None:
    assert shown(TEXT, 8, suffix=0) == (TEXT[:8], "")


@given(st.text(alphabet="ab\n", max_size=60), st.data(), st.integers(1, 50), st.floats(0, 1))
def test_a_window_is_never_too_long_and_stands_around_the_caret(
    text: str, data: st.DataObject, most: int, share: float
) -> None:
    offset = data.draw(st.integers(0, len(text)))
    prefix, suffix = shown(text, offset, characters=most, suffix=share)
    assert len(prefix) + len(suffix) <= most
    assert text[:offset].endswith(prefix)
    assert text[offset:].startswith(suffix)


def test_tokens_are_counted_by_whatever_counts_them() -> None:
    assert words("line 49\n") == 4
    prefix, suffix = shown(TEXT, TEXT.index("50"), words, tokens=16, suffix=0.25)
    assert (prefix, suffix) == ("line 47\nline 48\nline 49\nline ", "50\n")
    assert words(prefix) + words(suffix) <= 16


def test_an_estimate_of_tokens_is_a_number_of_characters() -> None:
    assert compute_budget(WindowConfig(tokens=10, characters_per_token=3.5)) == 35
    assert compute_budget(WindowConfig(tokens=10)) == 10


def test_other_files_have_a_share_that_the_open_one_does_not_get() -> None:
    prefix, _ = shown(TEXT, len(TEXT), characters=80, suffix=0.5, other_files=0.5)
    assert prefix == TEXT[-40:]


def test_what_did_not_fit_is_counted() -> None:
    assert window(TEXT, 400, WindowConfig(characters=80)).left_out == len(TEXT) - 80
    assert window(TEXT, 400, WindowConfig()).left_out == 0
    assert window(TEXT, 400, WindowConfig(suffix=0.0)).left_out == 0


def test_of_a_line_that_is_too_long_a_part_is_shown_and_no_code_point_is_split() -> None:
    line = "\U0001f600é" * 30

    def octets(text: str) -> int:
        return len(text.encode())

    assert head(line, 13, octets) == "\U0001f600é" * 2
    assert tail(line, 13, octets) == "\U0001f600é" * 2
    assert head(line, 5, octets) == "\U0001f600"


@given(st.text(alphabet="a b\n(é", max_size=80), st.integers(0, 60))
def test_whatever_is_counted_it_fits_and_no_longer_piece_of_whole_lines_does(text: str, most: int) -> None:
    begin, end = head(text, most, words), tail(text, most, words)
    assert words(begin) <= most
    assert words(end) <= most
    assert text.startswith(begin)
    assert text.endswith(end)
    lines = text.splitlines(keepends=True)
    for count in range(len(lines) + 1):
        for piece, found in (("".join(lines[:count]), begin), ("".join(lines[len(lines) - count :]), end)):
            assert words(piece) > most or len(piece) <= len(found)


@pytest.mark.parametrize("most", [1, 10, 100, 10_000])
def test_little_is_counted_of_a_large_file(most: int) -> None:
    large, counted = "x = 1\n" * 200_000, list[int]()

    def measure(text: str) -> int:
        counted.append(len(text))
        return words(text)

    assert words(tail(large, most, measure)) <= most
    assert len(counted) <= 24
    assert max(counted) <= 8 * most + 100
