"""What is special about text without a grammar."""

from __future__ import annotations

from pathlib import Path

from ci_eval.core.model import Kind
from ci_eval.plugins.languages.text import LANGUAGE

SAMPLE = Path(__file__).parent / "samples" / "text.txt"


def words(text: str) -> list[str]:
    return [token.text for token in LANGUAGE.extract(text, "a.txt", {}).tokens]


def test_every_identifier_is_a_token_wherever_it_stands() -> None:
    found = words(SAMPLE.read_text().split("\n", 1)[1])
    assert found == [
        *("Every word counts also in comments naïve_1 _x".split()),
        *("set lives2 text größe x y".split()),
    ]


def test_a_number_is_none_even_if_letters_follow() -> None:
    assert words("0x1F 9lives 1e5 a1 _1") == ["a1", "_1"]


def test_nothing_is_known_about_them() -> None:
    (token,) = LANGUAGE.extract("  name ", "a.txt", {}).tokens
    known = token.properties
    assert (token.offset, known.kind) == (2, Kind.VARIABLE)
    assert (known.is_argument, known.is_static, known.package, known.location) == (None, None, None, None)


def test_no_text_is_too_odd() -> None:
    assert words("") == []
    assert words("\0 \ufffd 3a ٣a") == []
