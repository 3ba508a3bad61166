"""Parsers, colours and the continuations of a grammar."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
import tree_sitter

from ci_eval.core.catalogs import languages
from ci_eval.core.grammar import syntax
from ci_eval.core.grammar.parsing import lost_bytes
from ci_eval.core.grammar.syntax import Continuations, colour_file, parse_tree, read_keywords
from tests.languages.test_modern import blocks

GOOD = b"type E = X match\n  case A => t\n  case B => C\ndef f = z\n"
BAD = b"type E = X match {\n  case A => t ((\n  case B => C\n}\ndef f = z\n"
FOLDER = Path(__file__).parent.parent / "languages"


def test_a_text_is_read_the_same_after_one_with_errors() -> None:
    trees = [parse_tree(text, "scala").root_node for text in (GOOD, BAD, GOOD)]
    assert lost_bytes(trees[1])
    assert [lost_bytes(trees[0]), lost_bytes(trees[2])] == [0, 0]


def test_tree_sitter_languages_reads_where_it_is_installed() -> None:
    has_wheels = sys.version_info < (3, 13)
    found = {grammar: syntax._older_language(grammar) is not None for grammar in syntax.OLDER}
    assert found == dict.fromkeys(syntax.OLDER, has_wheels)


@pytest.mark.parametrize("name", sorted(syntax.OLDER))
def test_the_older_grammar_gives_the_tokens_of_the_newer(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    files = [path.read_text() for kind in ("recorded", "samples") for path in (FOLDER / kind).glob(f"{name}.*")]
    texts = [*files, *(code for _, code, _ in blocks(name)), *(text[: len(text) // 2] for text in files)]
    language = languages.CATALOG.load(name)
    both = []
    for grammars in (syntax.OLDER, frozenset[str]()):
        monkeypatch.setattr(syntax, "OLDER", grammars)
        both.append([language.extract(text, "a", {}) for text in texts])
    assert both[0] == both[1]


def test_a_tree_of_the_older_grammar_that_has_an_error_is_replaced() -> None:
    source = b"class A { void f(int @B [] c) { import module x; } }"
    newer = syntax.language("java")
    assert parse_tree(source, "java").root_node.has_error
    assert str(parse_tree(source, "java").root_node) == str(tree_sitter.Parser(newer).parse(source).root_node)


@pytest.mark.parametrize("name", ["名", "\U0001d4cd", "e\u0301x", "é", "ж", "ゆ_1"])
@pytest.mark.parametrize(
    ("language", "code"),
    {
        "cpp": "int f(A N) { return N.b + g(N); }",
        "go": "package p\nfunc f(N A) int { return N.b + g(N) }",
        "java": "class A { int f(A N) { return N.b + g(N); } }",
        "javascript": "function f(N) { return N.b + g(N) }",
        "kotlin": "fun f(N: A) = N.b + g(N)",
        "php": "<?php function f(A $N) { return $N->b + g($N); }",
        "python": "def f(N: A): return N.b + g(N)",
        "ruby": "f = ->(N) { N.b + g(N) }",
        "rust": "fn f(N: A) -> A { N.b + g(N) }",
        "scala": "object O { def f(N: A) = g(N.b + N) }",
        "typescript": "function f(N: A) { return N.b + g(N) }",
    }.items(),
)
def test_an_identifier_is_read_by_unicode_s_rules(language: str, code: str, name: str) -> None:
    tokens = languages.CATALOG.load(language).extract(code.replace("N", name), "a", {}).tokens
    assert [token.text for token in tokens if token.text in {name, "b", "g"}].count(name) == 2


def test_a_mask_keeps_the_length_and_what_no_identifier_may_have() -> None:
    assert syntax.mask_identifiers("“Жé” 名\u00a0€".encode()) == "“XXxx” xxx\u00a0€".encode()
    assert syntax.mask_identifiers("f('é') ?é".encode()) == "f('é') ?é".encode()
    assert syntax.mask_identifiers(b"a \xff\xfe b") == b"a \xff\xfe b"


@pytest.mark.parametrize(
    ("grammar", "text", "expected"),
    [
        ("python", 'if x: # why\n    y = "é" in z\n', [("if", "K"), ("# why", "C"), ('"é"', "S"), ("in", "K")]),
        ("java", 'class A { String s = "x"; /* é */ }', [("class", "K"), ('"x"', "S"), ("/* é */", "C")]),
        ("go", "package a // b\nvar c = `d`\n", [("package", "K"), ("// b", "C"), ("var", "K"), ("`d`", "S")]),
        ("typescript", "const a: string = 'b'", [("const", "K"), ("'b'", "S")]),
    ],
)
def test_keywords_strings_and_comments_have_colours(grammar: str, text: str, expected: list[tuple[str, str]]) -> None:
    found = [(text[begin:end], colour) for begin, end, colour in colour_file("a", text, {"": grammar})]
    # Whether the name of a built-in type is a keyword is the grammar's to say.
    assert [each for each in found if each[0] != "string"] == expected


def test_the_longest_end_of_a_name_decides_about_the_grammar() -> None:
    text = "# a comment in one of them\n"
    assert colour_file("a.d.ts", text, {".ts": "python", ".d.ts": "go"}) == []
    assert colour_file("a.d.ts", text, {".ts": "python"}) == [(0, len(text) - 1, "C")]
    assert colour_file("a.d.ts", text, {".go": "go"}) == []


def test_plain_text_which_has_no_grammar_has_no_colours() -> None:
    assert colour_file("a.txt", "one two", {"": ""}) == []


@pytest.mark.parametrize(
    ("grammar", "text", "word", "allowed", "barred"),
    [
        ("python", "if value is None: pass\n", "is", "is not and or in if", "import for def"),
        ("python", "x = f(abc)\n", "abc", "not lambda None await", "if in is for def import return"),
        ("python", "from a import b as c\n", "as", "as", "assert and or"),
        ("java", "class A { int f() { return abc; } }", "abc", "new this", "class import while"),
        ("typescript", "let x = abc;", "abc", "new typeof await", "const return in"),
        ("go", "package a\nfunc f() int { return abc }\n", "abc", "func", "return go package"),
    ],
)
def test_keywords_are_barred_where_the_grammar_has_none(
    grammar: str, text: str, word: str, allowed: str, barred: str
) -> None:
    continuations, offset = Continuations(text, grammar), text.index(word)
    verdicts = {name: continuations.allows(offset, name, keyword=True) for name in f"{allowed} {barred}".split()}
    assert verdicts == dict.fromkeys(allowed.split(), True) | dict.fromkeys(barred.split(), False)


def test_a_name_is_barred_after_an_expression() -> None:
    text = "if é is None: pass\n"
    continuations = Continuations(text, "python")
    assert continuations.allows(text.index("is"), "name", keyword=False) is False
    assert continuations.allows(text.index("é"), "name", keyword=False) is True


@pytest.mark.parametrize(
    "text",
    ["if a:\n    abc()\n", "def f(:\n    x = abc\n", "x = abcdef\n"],
    ids=["the line begins there", "the text has an error", "no word begins there"],
)
def test_what_the_grammar_cannot_tell_is_not_known(text: str) -> None:
    offset = text.index("abc") if "def" not in text[6:] else text.index("def")
    assert Continuations(text, "python").allows(offset, "in", keyword=True) is None


def test_a_word_that_is_no_symbol_of_the_grammar_is_not_known() -> None:
    assert Continuations("x = abc\n", "python").allows(4, "wherever", keyword=True) is None


def test_the_keywords_of_a_grammar_are_its_words() -> None:
    of_go = (
        "break case chan const continue default defer else fallthrough for func go goto if import interface map "
        "package range return select struct switch type var"
    )
    assert read_keywords("go") == {*of_go.split()}
