"""Which tokens are new to their file."""

from __future__ import annotations

import re
from collections.abc import Sequence

from msgspec.structs import replace

from ci_eval.model import Properties, Token

_WORD = re.compile(r"\w+")


def with_first_use(text: str, tokens: Sequence[Token]) -> list[Token]:
    """The tokens, each with `first_use`: whether its text, as a whole word, stands nowhere before it, not even as a
    definition or in a comment."""
    first: dict[str, int] = {}
    for word in _WORD.finditer(text):
        first.setdefault(word[0], word.start())
    known: dict[tuple[int, bool], Properties] = {}
    found = []
    for token in tokens:
        # A text that is no word (`empty?`, `@name`) is looked for as it is.
        place = first.get(token.text)
        is_first = (text.find(token.text) if place is None else place) == token.offset
        # Properties are shared by the tokens of a file, so these few are made once.
        key = (id(token.properties), is_first)
        properties = known.get(key)
        if properties is None:
            properties = known[key] = replace(token.properties, first_use=is_first)
        found.append(Token(offset=token.offset, text=token.text, properties=properties))
    return found
