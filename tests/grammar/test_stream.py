"""All tokens of a file, in every language."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import pytest

from ci_eval.core.catalogs import languages
from ci_eval.core.grammar.stream import LONGEST_LITERAL, every_token
from ci_eval.core.model import UNREFERRING, Kind
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
