"""What is lost of a text is measured on its trees, and as little as possible is."""

from __future__ import annotations

import re

import pytest

from ci_eval.core.catalogs import languages
from ci_eval.core.grammar import reading
from ci_eval.core.grammar.reading import read
from ci_eval.core.grammar.repairs import REPAIRS
from ci_eval.core.grammar.repairs.ecmascript import JAVASCRIPT
from ci_eval.core.grammar.repairs.repair import Repair
from ci_eval.core.model import Kind
from ci_eval.plugins.languages.java import LANGUAGE as JAVA
from ci_eval.plugins.languages.kotlin import LANGUAGE as KOTLIN
from tests.languages.test_modern import blocks

HOSTILE = '( { [ < /* ` " \' \\ given is enum using import #if\n <<<A\n R"a( $a{get context( class \n<A = ,\n'.split(
    " "
)
DELEGATING = (
    "class A<E>(\n    private val b: B<E>\n) : D<E> by b {\n    constructor(v: E) : this() {\n        go(v)\n    }\n\n"
    "    val x: E get() = b.value\n}\n"
)


def names(language: object, text: str) -> list[str]:
    found = language.extract(text, "a", {}).tokens  # type: ignore[attr-defined]
    return [token.text for token in found if token.properties.kind != Kind.KEYWORD]


def test_a_text_without_errors_is_parsed_as_it_is() -> None:
    source = b"fun f(a: Int) = a + b\n"
    reading = read(source, "kotlin")
    assert reading.source is source
    assert reading.lost == 0


def test_what_stands_in_an_error_is_lost_also_where_no_walk_goes() -> None:
    assert read(b"class A(:\n    pass\n", "python").lost > 0


def test_a_member_that_cannot_be_read_does_not_take_the_class_with_it() -> None:
    text = "class A {\n    fun a(z: Int) = one(z)\n    fun broken(((( = }{ -> -> class\n    fun b(z: Int) = two(z)\n}\n"
    found = KOTLIN.extract(text, "a.kt", {})
    assert names(KOTLIN, text) == ["Int", "one", "z", "Int", "two", "z"]
    assert 0 < found.unparsable < 0.5


def test_a_class_that_delegates_is_no_call_with_a_lambda() -> None:
    text = DELEGATING
    found = KOTLIN.extract(text, "a.kt", {})
    assert found.unparsable == 0
    assert names(KOTLIN, text)[-4:] == ["v", "E", "b", "value"]
    assert ("by", Kind.KEYWORD) in {(token.text, token.properties.kind) for token in found.tokens}


def test_a_class_that_cannot_be_read_leaves_the_others() -> None:
    text = "class A {\n  void a( int {{ ) } ( -> ;\n}\n\nclass B {\n  void f(int z) { go(z); }\n}\n"
    assert names(JAVA, text)[-2:] == ["go", "z"]


def test_offsets_and_words_are_those_of_the_text_and_not_of_its_rewriting() -> None:
    text = "fun f(é: Any) = when (é) { is Cat if é.ok -> 1\n else -> 2 }\n"
    tokens = KOTLIN.extract(text, "a.kt", {}).tokens
    assert all(text[t.offset : t.offset + len(t.text)] == t.text for t in tokens)
    assert ("if", Kind.KEYWORD) in {(t.text, t.properties.kind) for t in tokens}


def test_a_rewriting_of_another_length_is_dropped() -> None:
    longer = Repair(re.compile(rb"(?P<k>b)"), lambda m: m[0] * 2)
    assert longer.apply(b"a b c") == (b"a b c", (), (), (), 0)


@pytest.mark.parametrize("grammar", sorted(REPAIRS))
def test_a_rewriting_keeps_the_length_of_any_text(grammar: str) -> None:
    for part in HOSTILE:
        source = (part + " ").encode() * 2_000
        for repair in REPAIRS[grammar]:
            made = repair.apply(source)
            assert {len(source)} == {len(text) for text in (made.text, *made.layers)}


@pytest.mark.parametrize("grammar", sorted(REPAIRS.keys() - {"tsx"}))
def test_every_rewriting_is_needed_by_a_text_that_the_grammar_misreads(
    grammar: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    language = languages.CATALOG.load(grammar)
    texts = [code if grammar != "php" else "<?php\n" + code for _, code, _ in blocks(grammar)]
    if grammar == "kotlin":
        texts.append(DELEGATING)
    before = [language.extract(text, "a", {}) for text in texts]
    needless = []
    shared = JAVASCRIPT if grammar == "typescript" else ()
    for repair in REPAIRS[grammar]:
        if repair in shared:
            continue
        others = tuple(other for other in REPAIRS[grammar] if other is not repair)
        monkeypatch.setattr(reading, "REPAIRS", {**REPAIRS, grammar: others})
        if [language.extract(text, "a", {}) for text in texts] == before:
            needless.append(REPAIRS[grammar].index(repair))
    assert not needless
