"""All tokens of a file, and the places where something new is written."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import get_args

import pytest

from ci_eval.core.catalogs import languages
from ci_eval.core.grammar.tokens import LONGEST_LITERAL, every_token, find_silent_places
from ci_eval.core.model import UNREFERRING, Kind, SilentPlace
from ci_eval.plugins.languages.python import KEYWORDS, LANGUAGE

SAMPLES = Path(__file__).parents[1] / "languages" / "samples"
CODE = sorted(each for each in SAMPLES.iterdir() if each.suffix != ".txt")


def kinds(code: str) -> dict[str, str]:
    """Text → kind of each token of Python code that completion does not ask for."""
    found = every_token(code, "python", KEYWORDS, LANGUAGE.extract(code, "a.py", {}).tokens)
    return {each.text: each.properties.kind.value for each in found if each.properties.kind in UNREFERRING}


def test_definitions_literals_operators_and_punctuation_are_added() -> None:
    assert kinds("def f(x):\n    return [x] == 3, 'a b'  # none\n") == {
        "f": "DEFINITION",
        "x": "DEFINITION",
        "==": "OPERATOR",
        "3": "LITERAL",
        "'a b'": "LITERAL",
        **dict.fromkeys("()[]:,", "PUNCTUATION"),
    }


def test_of_a_literal_with_code_in_it_only_the_code_is_there() -> None:
    code = 'f"a {name} b"\n'
    found = every_token(code, "python", KEYWORDS, LANGUAGE.extract(code, "a.py", {}).tokens)
    assert [(each.text, each.offset) for each in found if each.properties.kind != Kind.PUNCTUATION] == [("name", 5)]


def test_literals_of_several_lines_and_long_ones_are_no_tokens() -> None:
    assert kinds(f'"""a\nb"""\nx = "{"y" * LONGEST_LITERAL}"\n') == {"x": "DEFINITION", "=": "OPERATOR"}


def test_offsets_count_code_points() -> None:
    code = "é = 'ψ'; b = 2\n"
    found = every_token(code, "python", KEYWORDS, LANGUAGE.extract(code, "a.py", {}).tokens)
    assert [code[each.offset :][: len(each.text)] for each in found] == [each.text for each in found]
    assert [each.text for each in found] == ["é", "=", "'ψ'", ";", "b", "=", "2"]


def test_a_text_without_a_grammar_has_its_words_alone() -> None:
    text = languages.CATALOG.load("text")
    known = text.extract("a + b", "a", {}).tokens
    assert every_token("a + b", "", text.keywords, known) == list(known)


@pytest.mark.parametrize("sample", CODE, ids=lambda path: path.name)
def test_what_the_language_finds_stays_and_nothing_overlaps(sample: Path) -> None:
    language = next(
        each
        for each in languages.CATALOG.all()
        if each.shape and any(sample.name.endswith(suffix) for suffix in each.suffixes)
    )
    code = sample.read_text()
    grammar = language.grammars[max((s for s in language.suffixes if sample.name.endswith(s)), key=len)]
    known = language.extract(code, sample.name, {}).tokens
    found = every_token(code, grammar, language.keywords, known)
    assert [each for each in found if each in set(known)] == list(known)
    assert all(code[each.offset : each.offset + len(each.text)] == each.text for each in found)
    assert all(one.offset + len(one.text) <= other.offset for one, other in pairwise(found))
    assert {Kind.DEFINITION, Kind.PUNCTUATION} <= {each.properties.kind for each in found} or len(found) < 30


KINDS = get_args(SilentPlace)


def places(text: str, language: str = "python", *kinds: SilentPlace) -> str:
    known = languages.CATALOG.load(language)
    grammar = next(iter(known.grammars.values()))
    tokens = known.extract(text, "a", {}).tokens
    return " ".join(place.text for place in find_silent_places(text, grammar, tokens, kinds or KINDS))


def test_new_names_of_python_are_places_and_names_that_refer_to_something_are_not() -> None:
    text = "def go(alpha, beta: int = other) -> str:\n    for item in alpha:\n        print(lambda z: z)\n"
    assert places(text) == "go alpha beta item z"
    assert places("class A:\n    def go(self):\n        def inner():\n            pass") == "A inner"
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
        ("cpp", "int area(int width) { return 3; } struct B { void go() {} };", "3 B"),
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
