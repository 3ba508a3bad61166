"""What editors colour in a text: its keywords, strings and comments, in any language that there is a grammar for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Literal

from ci_eval.grammar.syntax import Node, parser

Colour = Literal["K", "S", "C"]
"""Keyword, string, comment."""


def colours(text: str, grammar: str) -> list[tuple[int, int, Colour]]:
    """Begin, end (in code points) and colour of each, in order; none of them is inside of another."""
    data = text.encode()
    found = _coloured(parser(grammar).parse(data).root_node)
    if len(data) == len(text):
        return list(found)
    return list(_in_code_points(found, data))


def colours_in(path: str, text: str, grammars: Mapping[str, str]) -> list[tuple[int, int, Colour]]:
    """Those of a file, by the grammar for the longest end of its name; none where there is no grammar."""
    ends = [end for end in grammars if path.endswith(end)]
    return colours(text, grammars[max(ends, key=len)]) if ends else []


def _coloured(root: Node) -> Iterator[tuple[int, int, Colour]]:
    waiting = [root]
    while waiting:
        node = waiting.pop()
        type_ = node.type
        if "comment" in type_:
            yield node.start_byte, node.end_byte, "C"
        elif node.is_named and "string" in type_:
            yield node.start_byte, node.end_byte, "S"
        elif children := node.children:
            waiting.extend(reversed(children))
        elif not node.is_named and type_.isalpha():
            yield node.start_byte, node.end_byte, "K"


def _in_code_points(found: Iterator[tuple[int, int, Colour]], data: bytes) -> Iterator[tuple[int, int, Colour]]:
    at = read = 0
    for begin, end, colour in found:
        first = at + len(data[read:begin].decode())
        at, read = first + len(data[begin:end].decode()), end
        yield first, at, colour
