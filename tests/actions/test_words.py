"""Which tokens are new to their file."""

from __future__ import annotations

from ci_eval.core.actions.words import mark_first_uses
from ci_eval.core.model import Kind, Properties, Token

PLAIN = Properties(kind=Kind.VARIABLE)


def new(text: str, *words: str) -> list[bool | None]:
    """For each place of the words, in order of the text."""
    places = sorted((begin, word) for word in words for begin in range(len(text)) if text.startswith(word, begin))
    tokens = [Token(offset=offset, text=word, properties=PLAIN) for offset, word in places]
    return [token.properties.first_use for token in mark_first_uses(text, tokens)]


def test_the_first_of_equal_words_is_new_and_the_others_are_not() -> None:
    assert new("a = b + a\n", "a", "b") == [True, True, False]


def test_a_word_of_a_comment_counts_and_a_part_of_a_word_does_not() -> None:
    assert new("# name\nname", "name") == [True, False]
    assert new("rename name", "name") == [True, True]
    assert new("name rename name", "name") == [True, False, False]
    assert new("été té", "té", "été") == [True, True, True]


def test_what_is_no_word_is_looked_for_as_it_is() -> None:
    assert new("empty? empty?", "empty?") == [True, False]
