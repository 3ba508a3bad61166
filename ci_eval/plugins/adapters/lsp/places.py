"""A conversion between offsets in code points, and lines and characters in the units that a server counts in."""

from __future__ import annotations

from typing import Literal

from ci_eval.plugins.adapters.lsp.protocol import Position

Encoding = Literal["utf-8", "utf-16", "utf-32"]


def width(text: str, encoding: Encoding) -> int:
    """Return the number of units that the text has."""
    if encoding == "utf-32" or text.isascii():
        return len(text)
    if encoding == "utf-8":
        # A file may hold lone surrogates, which no strict encoder accepts.
        return len(text.encode("utf-8", "surrogatepass"))
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


def find_position(text: str, offset: int, encoding: Encoding) -> Position:
    """Return the line and character of the code point at `offset`."""
    begin = text.rfind("\n", 0, offset) + 1
    return Position(line=text.count("\n", 0, begin), character=width(text[begin:offset], encoding))


def offset_in_line(line: str, character: int, encoding: Encoding) -> int:
    """Return the number of code points before `character` units of a line; a position inside a code point is its
    beginning.

    A position before the line is the line's beginning, and one behind the line is its end.
    """
    character = max(character, 0)
    if encoding == "utf-32" or line.isascii():
        return min(character, len(line))
    used = 0
    for count, letter in enumerate(line):
        used += width(letter, encoding)
        if used > character:
            return count
    return len(line)
