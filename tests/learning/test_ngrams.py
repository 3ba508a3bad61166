"""Code read without a grammar, held against the tree."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ci_eval.core.catalogs import languages
from ci_eval.core.grammar.tokens import every_token
from ci_eval.core.logs.names import count
from ci_eval.plugins.languages.python import KEYWORDS
from ci_eval.plugins.learning import ngrams
from ci_eval.plugins.learning.ngrams import Typed, classify_token, interpolate, mix, tokenize_lines

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


TEXTS = ["a", "b", "c", "d", "e"]
SLP_CORE = {
    # Of the file, of the project, and mixed: as JMModel(6), JMModel(3) and InverseMixModel print them at commit
    # 9c428ce22bde, both models having read all at once (`learn`; `learnToken` counts a sequence again with each token).
    "a b c a b c d a b ": (
        (0.047619047619047616, 0.047619047619047616, 0.888888888888889, 0.015873015873015872, 0.0),
        (0.12337662337662338, 0.05194805194805195, 0.5497835497835498, 0.2748917748917749, 0.0),
        (0.08549783549783549, 0.049783549783549784, 0.7193362193362194, 0.1453823953823954, 0.0),
    ),
    "a b c a b c d c a b a b c a b c ": (
        (0.15575396825396826, 0.00496031746031746, 0.00496031746031746, 0.8343253968253969, 0.0),
        (0.4805194805194805, 0.4805194805194805, 0.025974025974025976, 0.012987012987012988, 0.0),
        (0.1918390251723585, 0.057800224466891134, 0.007295173961840629, 0.7430655763989098, 0.0),
    ),
}


@pytest.mark.parametrize(("before", "expected"), SLP_CORE.items())
def test_the_probabilities_are_those_of_slp_core(before: str, expected: tuple[tuple[float, ...], ...]) -> None:
    typed = Typed()
    typed.read(before)
    others = count(["a b c a b d a b c b a"]).without("")
    file, project = interpolate(typed.levels(TEXTS)), interpolate(others.levels(TEXTS, typed.context(2)))
    found = np.stack([file[0], project[0], mix(file, project)])
    assert found == pytest.approx(np.array(expected))


def test_a_model_that_saw_nothing_has_no_weight() -> None:
    known = np.array([0.25, 0.75]), 2
    unknown = interpolate([(np.zeros(2), 0.0)])
    assert mix(known, unknown).tolist() == mix(unknown, known).tolist() == [0.25, 0.75]
    assert mix(unknown, unknown).tolist() == [0.0]


FILE = "from a import b\nx = b(a)\n\n   \nfor x in b:\n    print(x, a)\n" * 2


@given(st.lists(st.integers(0, len(FILE)), min_size=1, max_size=8), st.sampled_from([5, 5_000]))
@settings(max_examples=100)
def test_reading_on_gives_what_reading_anew_gives(places: list[int], capacity: int) -> None:
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(ngrams, "CAPACITY", capacity)
        typed = Typed()
        for place in places:
            fresh = Typed()
            typed.read(FILE[:place])
            fresh.read(FILE[:place])
            assert known(typed) == known(fresh)


def known(typed: Typed) -> object:
    names = ["a", "b", "x", "print", "for"]
    levels = [(counts.tolist(), total) for counts, total in typed.levels(names)]
    return levels, typed.context(6), [typed.last(name) for name in names]


def test_the_cache_holds_the_last_tokens_alone() -> None:
    typed = Typed()
    typed.read("first\n" + "x\n" * (ngrams.CAPACITY // 2) + "x ")
    counts, total = next(iter(typed.levels(["first", "x"])))
    assert (counts.tolist(), total) == ([0, ngrams.CAPACITY // 2 + 1], ngrams.CAPACITY // 2 + 1)
    assert typed.last("first") == 2
