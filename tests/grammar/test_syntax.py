"""The parsers: one grammar per language, and an older one where its trees have the same tokens."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
import tree_sitter

from ci_eval.core.catalogs import languages
from ci_eval.core.grammar import syntax
from ci_eval.core.grammar.reading import lost_bytes
from ci_eval.core.grammar.syntax import parser
from tests.languages.test_modern import blocks

GOOD = b"type E = X match\n  case A => t\n  case B => C\ndef f = z\n"
BAD = b"type E = X match {\n  case A => t ((\n  case B => C\n}\ndef f = z\n"
FOLDER = Path(__file__).parent.parent / "languages"


def test_a_text_is_read_the_same_after_one_with_errors() -> None:
    trees = [parser("scala").parse(text).root_node for text in (GOOD, BAD, GOOD)]
    assert lost_bytes(trees[1])
    assert [lost_bytes(trees[0]), lost_bytes(trees[2])] == [0, 0]


def test_tree_sitter_languages_reads_where_it_is_installed() -> None:
    has_wheels = sys.version_info < (3, 13)
    readers = {grammar: type(parser(grammar)) is not type(parser("python")) for grammar in syntax.OLDER}
    assert readers == dict.fromkeys(syntax.OLDER, has_wheels)


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
    assert parser("java").parse(source).root_node.has_error
    assert str(parser("java").parse(source).root_node) == str(tree_sitter.Parser(newer).parse(source).root_node)
