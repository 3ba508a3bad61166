"""The word before the caret."""

from __future__ import annotations

import pytest

from ci_eval.plugins.adapters.lsp.words import word_start


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
    assert line[word_start(line.replace("|", ""), caret, language) : caret] == word
