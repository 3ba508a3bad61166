"""The test of which tokens are new to their file."""

from __future__ import annotations

import re
from collections.abc import Sequence

from msgspec.structs import replace

from ci_eval.core.model import Properties, Token

_WORDS = re.compile(r"\w+")


def mark_first_uses(text: str, tokens: Sequence[Token]) -> list[Token]:
    """Return the tokens, which are in order, with `first_use` filled in. It is True if their text, as a whole word,
    occurs nowhere before, not even as a definition or in a comment."""
    seen, read = set[str](), 0
    known: dict[tuple[int, bool], Properties] = {}
    marked = []
    for token in tokens:
        own, begin = token.text, token.offset
        is_first = False
        if own not in seen:
            # The text is read up to the word that goes on at the token, if one does.
            end = begin
            while end and _WORDS.fullmatch(text, end - 1, end + 1):
                end -= 1
            # Tokens are in order, so each stretch of the text is read once.
            seen.update(_WORDS.findall(text, read, end))
            read = end
            # A text that is no word of its own (`empty?`, `@name`) is searched for as it is.
            is_word = end == begin and _WORDS.fullmatch(own)
            is_first = own not in seen if is_word else text.find(own) == begin
            if end == begin:
                seen.add(own)
        # Tokens of a file share their properties, so each of these few is made only once.
        key = (id(token.properties), is_first)
        properties = known.get(key)
        if properties is None:
            properties = known[key] = replace(token.properties, first_use=is_first)
        marked.append(Token(offset=begin, text=own, properties=properties))
    return marked
