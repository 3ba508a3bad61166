"""The word at the caret."""

from __future__ import annotations

import pytest

from ci_eval.plugins.adapters.lsp.words import find_word


@pytest.mark.parametrize(
    ("line", "language", "word"),
    [
        ("x.path|", "python", "path"),
        ("x.|", "python", ""),
        ("a b|c", "python", "b"),
        ("@iv|", "ruby", "iv"),
        ("$na|", "php", "$na"),
        ("$|", "php", "$"),
        ("$na|", "python", "na"),
        ("this.#pr|", "typescript", "#pr"),
        ("value$|", "typescriptreact", "value$"),
        ("x = 1.5f|", "cpp", "1.5f"),
        ("naïve_é|", "python", "naïve_é"),
        ("é😀a|", "python", "é😀a"),
        (f"{'a' * 40}|", "python", "a" * 40),
        (f"{'a ' * 600}bc|", "python", "bc"),
        ("|foo", "python", ""),
    ],
)
def test_the_word_is_that_of_the_language(line: str, language: str, word: str) -> None:
    caret = line.index("|")
    assert line[find_word(line.replace("|", ""), caret, language)[0] : caret] == word


@pytest.mark.parametrize(
    ("line", "language", "rest"),
    [
        ("x.pa|th(1)", "python", "th"),
        ("x.|", "python", ""),
        ("this.#p|r$;", "typescript", "r$"),
        ("x.|path", "go", "path"),
    ],
)
def test_the_word_goes_on_behind_the_caret(line: str, language: str, rest: str) -> None:
    caret = line.index("|")
    text = line.replace("|", "")
    assert text[caret : find_word(text, caret, language)[1]] == rest
