"""What a project declares is found in time that grows with its files, whatever stands in them."""

from __future__ import annotations

import time

import pytest

from ci_eval.core.catalogs import languages

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


@pytest.mark.parametrize("name", DECLARING)
def test_a_file_of_one_word_a_thousand_times_holds_nobody_up(name: str) -> None:
    declare = languages.CATALOG.load(name).declare
    assert declare
    seconds = {}
    for word in WORDS:
        began = time.perf_counter()
        declare(word * (100_000 // len(word)), "a")
        seconds[word] = time.perf_counter() - began
    assert {word: taken for word, taken in seconds.items() if taken >= 5} == {}
