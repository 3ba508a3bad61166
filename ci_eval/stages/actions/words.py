"""Which tokens are new to their file."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import accumulate

from msgspec.structs import replace

from ci_eval.model import Properties, Token

_BETWEEN = re.compile(r"(\W+)")


def with_first_use(text: str, tokens: Sequence[Token]) -> list[Token]:
    """The tokens, each with `first_use`: whether its text, as a whole word, stands nowhere before it, not even as a
    definition or in a comment."""
    pieces = _BETWEEN.split(text)
    begins = list(accumulate(map(len, pieces), initial=0))
    # Every other piece is a word; of equal ones the last that is put in, which is the first in the file, stays.
    first = dict(zip(pieces[::-2], begins[-2::-2], strict=True))
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
