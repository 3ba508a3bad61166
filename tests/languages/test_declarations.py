"""What a project declares is found in time that grows with its files, whatever stands in them."""

from __future__ import annotations

import time

import pytest

from ci_eval import languages

DECLARING = [name for name in languages.names() if languages.CATALOG.load(name).declare]
WORDS = [
    "\n",
    "a\n",
    "a ",
    "private ",
    "@a ",
    "class ",
    "fun a.",
    "func (\n",
    "type (\n",
    "namespace a",
    "#define a",
    "{",
]


@pytest.mark.parametrize("word", WORDS)
@pytest.mark.parametrize("name", DECLARING)
def test_a_file_of_one_word_a_thousand_times_holds_nobody_up(name: str, word: str) -> None:
    declare = languages.CATALOG.load(name).declare
    assert declare
    began = time.perf_counter()
    declare(word * (100_000 // len(word)), "a")
    assert time.perf_counter() - began < 5
