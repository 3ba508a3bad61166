"""The words that a grammar lets stand at a caret."""

from __future__ import annotations

import pytest

from ci_eval.core.grammar.continuations import Continuations


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
