"""The words that names are made of."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ci_eval.core.base.subtokens import split

NAMES = {
    "HTTPServer2Go": "http server 2 go",
    "transformSearchResponse": "transform search response",
    "snake_case": "snake case",
    "__init__": "init",
    "SCREAMING_SNAKE_CASE": "screaming snake case",
    "kebab-case": "kebab case",
    "$scope": "scope",
    "utf8": "utf 8",
    "parseXML": "parse xml",
    "XMLParser": "xml parser",
    "x": "x",
    "_": "",
    "": "",
    "ÜberCode": "über code",
    "ИмяПользователя": "имя пользователя",
    "загрузитьHTMLСтраницу": "загрузить html страницу",  # noqa: RUF001
    "获取User名": "获取 user 名",
    "हिन्दीनाम": "हिन्दीनाम",
    "обʼєкт": "обʼєкт",
    "ΛΟΓΟΣ": "λογοσ",
}


@pytest.mark.parametrize(("name", "expected"), NAMES.items())
def test_a_name_is_split_by_its_convention(name: str, expected: str) -> None:
    assert [*split(name)] == expected.split()


def test_two_spellings_of_an_accent_are_equal() -> None:
    assert split("caf\u00e9Name") == split("cafe\u0301Name") == ("café", "name")


@given(st.lists(st.text("abcdefgh", min_size=1), min_size=1))
def test_conventions_say_the_same(words: list[str]) -> None:
    pascal = "".join(word.capitalize() + "_" * (len(word) == 1) for word in words)
    assert (
        split("_".join(words))
        == split("-".join(words))
        == split("_".join(words).upper())
        == split(pascal)
        == tuple(words)
    )


@given(st.text())
def test_no_text_breaks_it(text: str) -> None:
    assert all(split(text))
