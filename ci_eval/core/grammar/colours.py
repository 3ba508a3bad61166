"""The colours that editors give a text: its keywords, strings and comments, in any language that has a grammar."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Literal

from ci_eval.core.grammar.syntax import Tree, parser

Colour = Literal["K", "S", "C"]
"""A colour: keyword (K), string (S) or comment (C)."""


def colours(text: str, grammar: str) -> list[tuple[int, int, Colour]]:
    """Return the begin and end (in code points) and the colour of each coloured span, in order. No span is inside of
    another."""
    data = text.encode()
    spans = _walk_colours(parser(grammar).parse(data))
    if len(data) == len(text):
        return list(spans)
    return list(_convert_spans(spans, data))


def colour_file(path: str, text: str, grammars: Mapping[str, str]) -> list[tuple[int, int, Colour]]:
    """Return the coloured spans of a file. The grammar is the one for the longest matching end of the path; without
    one, the list is empty."""
    # Plain text has an empty grammar.
    ends = [end for end, grammar in grammars.items() if grammar and path.endswith(end)]
    return colours(text, grammars[max(ends, key=len)]) if ends else []


def _walk_colours(tree: Tree) -> Iterator[tuple[int, int, Colour]]:
    # A cursor makes one node at a time, which takes less than half as long as lists of children.
    cursor = tree.walk()
    while True:
        node = cursor.node
        assert node, "only a cursor that was moved out of its tree has none"
        type_ = node.type
        if "comment" in type_:
            yield node.start_byte, node.end_byte, "C"
        elif node.is_named and "string" in type_:
            yield node.start_byte, node.end_byte, "S"
        elif cursor.goto_first_child():
            continue
        elif not node.is_named and type_.isalpha():
            yield node.start_byte, node.end_byte, "K"
        while not cursor.goto_next_sibling():
            if not cursor.goto_parent():
                return


def _convert_spans(spans: Iterator[tuple[int, int, Colour]], data: bytes) -> Iterator[tuple[int, int, Colour]]:
    # Spans are in order, so each byte is decoded once.
    at = read = 0
    for begin, end, colour in spans:
        first = at + len(data[read:begin].decode())
        at, read = first + len(data[begin:end].decode()), end
        yield first, at, colour
