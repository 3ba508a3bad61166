"""What editors colour in a text: its keywords, strings and comments, in any language that there is a grammar for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Literal

from ci_eval.grammar.syntax import Tree, parser

Colour = Literal["K", "S", "C"]
"""Keyword, string, comment."""


def colours(text: str, grammar: str) -> list[tuple[int, int, Colour]]:
    """Begin, end (in code points) and colour of each, in order; none of them is inside of another."""
    data = text.encode()
    found = _coloured(parser(grammar).parse(data))
    if len(data) == len(text):
        return list(found)
    return list(_in_code_points(found, data))


def colours_in(path: str, text: str, grammars: Mapping[str, str]) -> list[tuple[int, int, Colour]]:
    """Those of a file, by the grammar for the longest end of its name; none where there is no grammar."""
    ends = [end for end in grammars if path.endswith(end)]
    return colours(text, grammars[max(ends, key=len)]) if ends else []


def _coloured(tree: Tree) -> Iterator[tuple[int, int, Colour]]:
    # A cursor makes one node at a time, which takes less than half as long as lists of children.
    cursor = tree.walk()
    while True:
        node = cursor.node
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


def _in_code_points(found: Iterator[tuple[int, int, Colour]], data: bytes) -> Iterator[tuple[int, int, Colour]]:
    at = read = 0
    for begin, end, colour in found:
        first = at + len(data[read:begin].decode())
        at, read = first + len(data[begin:end].decode()), end
        yield first, at, colour
