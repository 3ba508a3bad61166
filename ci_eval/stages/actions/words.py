"""Tells which tokens are new to their file."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import accumulate

from msgspec.structs import replace

from ci_eval.model import Properties, Token

_BETWEEN = re.compile(r"(\W+)")


def with_first_use(text: str, tokens: Sequence[Token]) -> list[Token]:
    """The tokens with `first_use` filled in: whether their text, as a whole word, occurs nowhere before, not even as a
    definition or in a comment."""
    pieces = _BETWEEN.split(text)
    begins = list(accumulate(map(len, pieces), initial=0))
    # Every other piece is a word. They are put in from the last to the first, so that of equal words the first one
    # stays.
    first = dict(zip(pieces[::-2], begins[-2::-2], strict=True))
    known: dict[tuple[int, bool], Properties] = {}
    found = []
    for token in tokens:
        # A text that is no word (`empty?`, `@name`) is searched for as it is.
        place = first.get(token.text)
        is_first = (text.find(token.text) if place is None else place) == token.offset
        # Tokens of a file share their properties, so each of these few is made only once.
        key = (id(token.properties), is_first)
        properties = known.get(key)
        if properties is None:
            properties = known[key] = replace(token.properties, first_use=is_first)
        found.append(Token(offset=token.offset, text=token.text, properties=properties))
    return found
