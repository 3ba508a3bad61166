"""Code read without a grammar, held against the tree."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ci_eval.core.catalogs import languages
from ci_eval.core.grammar.tokens import every_token
from ci_eval.plugins.languages.python import KEYWORDS
from ci_eval.plugins.learning.code import classify_token, tokenize_lines

SAMPLES = Path(__file__).parents[1] / "languages" / "samples"


def tokens(text: str, language: str = "python") -> list[str]:
    return [token for line in tokenize_lines(text, language) for token in line]


@pytest.mark.parametrize("sample", sorted(SAMPLES.glob("*.[!t]*")), ids=lambda path: path.name)
def test_it_finds_nearly_all_tokens_of_the_tree_and_few_others(sample: Path) -> None:
    language = next(
        each
        for each in languages.CATALOG.all()
        if each.shape and any(sample.name.endswith(suffix) for suffix in each.suffixes)
    )
    code = sample.read_text()
    grammar = language.grammars[max((s for s in language.suffixes if sample.name.endswith(s)), key=len)]
    known = language.extract(code, sample.name, {}).tokens
    wanted = Counter(each.text for each in every_token(code, grammar, language.keywords, known))
    found = Counter(tokens(code, language.name))
    assert (wanted - found).total() <= max(0.06 * wanted.total(), 10)
    assert (found - wanted).total() <= max(0.06 * wanted.total(), 10)


def test_comments_and_texts_of_several_lines_have_no_tokens() -> None:
    assert tokens('x = 1  # one "two"\n"""a\nb = 2\n"""; y\n') == ["x", "=", "1", ";", "y"]
    assert tokens('int x; /* a\nb */ int y; // "c"\n', "java") == ["int", "x", ";", "int", "y", ";"]


def test_only_in_php_a_hash_before_a_bracket_begins_an_attribute() -> None:
    assert tokens("a #[b") == tokens("a #[b", "ruby") == ["a"]
    assert "b" in tokens("a #[b", "php")
    assert tokens("a # b", "php") == ["a"]


def test_a_text_on_one_line_is_a_token_whatever_is_in_it() -> None:
    assert tokens('f("# \\" no", """doc""", b\'x\')') == ["f", "(", '"# \\" no"', ",", '"""doc"""', ",", "b'x'", ")"]


def test_a_text_that_never_ends_is_read_on() -> None:
    assert tokens("x = 'it\ny = 2") == ["x", "=", "'", "it", "y", "=", "2"]


@pytest.mark.parametrize(
    ("token", "expected"),
    [
        ("name", "name"),
        ("_", "name"),
        ("@count", "name"),
        ("ключ", "name"),
        ("return", "keyword"),
        ('b"x"', "literal"),
        ("0x1F", "literal"),
        ("=>", "operator"),
        ("(", "punctuation"),
    ],
)
def test_what_a_token_is_shows_in_its_text(token: str, expected: str) -> None:
    assert classify_token(token, KEYWORDS) == expected


@given(
    st.sampled_from([each.name for each in languages.CATALOG.all()]),
    st.text("ab1_ .:=<>-+*&|?!$@(){}[];,\\'\"`", max_size=40),
)
def test_a_line_without_comments_is_read_as_one_that_ends_with_a_comment(language: str, line: str) -> None:
    """Lines without anything that may begin a comment are read in another way, which is faster."""
    comment = "# x" if language in {"python", "ruby"} else "// x"
    assert tokens(f"{line} {comment}", language) == tokens(line, language)
