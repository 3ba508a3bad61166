"""Places for something new: names that are defined there, numbers, and words of prose."""

from __future__ import annotations

from typing import get_args

import pytest

from ci_eval.core.catalogs import languages
from ci_eval.core.grammar.silence import find_silent_places
from ci_eval.core.model import SilentPlace

KINDS = get_args(SilentPlace)


def places(text: str, language: str = "python", *kinds: SilentPlace) -> str:
    known = languages.CATALOG.load(language)
    grammar = next(iter(known.grammars.values()))
    tokens = known.extract(text, "a", {}).tokens
    return " ".join(place.text for place in find_silent_places(text, grammar, tokens, kinds or KINDS))


def test_new_names_of_python_are_places_and_names_that_refer_to_something_are_not() -> None:
    text = "def go(alpha, beta: int = other) -> str:\n    for item in alpha:\n        print(lambda z: z)\n"
    assert places(text) == "go alpha beta item z"
    assert places("try:\n    go()\nexcept ValueError as err:\n    raise\ntotal = 2") == "err 2"


@pytest.mark.parametrize(
    ("language", "text", "expected"),
    [
        ("python", "class Foo(Base):\n    def method(self, data):\n        pass", "Foo data"),
        ("typescript", "class Shape { describe(y) {} }\ntype Alias = Foo; xs.map(x => x);", "Shape y Alias x"),
        (
            "go",
            "package main\nfunc Host(s string) {}\nfunc (r *Recv) Method(a int) {}\ntype Shape struct { A int }",
            "",
        ),
        ("java", "class Shape { int go(int b) { return 1; } }", "Shape 1"),
        ("rust", "fn host(s: &str) {} impl Foo { fn go(&self, b: u8) {} } trait Tr { fn x(); }", "host s b Tr"),
        ("cpp", "int area(int width) { return 3; } struct Foo x; void A::b() {}", "area 3"),
        ("kotlin", "fun area(width: Int): Int = 3\nclass Shape { fun go(b: Int) {} }", "area width 3 Shape b"),
        ("php", "<?php function area(int $w) { return 3; } class Shape { function go($a) {} }", "area 3 Shape"),
        ("scala", "class Shape(a: Int) { def go(b: Int) = 3 }\ndef top(x: Int) = 3", "Shape a b 3 top x 3"),
    ],
)
def test_methods_and_names_after_their_type_are_no_places(language: str, text: str, expected: str) -> None:
    assert places(text, language) == (expected or "Host s r a Shape")


def test_prose_is_a_place_and_names_of_code_in_it_are_not() -> None:
    assert places("# Two words are here.\n# one\nx = 'some sample', 'key', f'two {x} words'") == "words sample"
    assert places("/** two words here */ let a = 1;  // see foo.bar the words", "typescript", "comment") == "the"


def test_a_kind_that_is_not_asked_for_is_left_out() -> None:
    assert places("def go():\n    return 12  # two words", "python", "number") == "12"
