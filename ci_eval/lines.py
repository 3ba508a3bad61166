"""Where the lines of a text begin: tells the line of many offsets, each without reading the text again."""

from __future__ import annotations

from bisect import bisect_right
from itertools import accumulate


class Lines:
    """Of one text; a line ends with a line feed."""

    def __init__(self, text: str) -> None:
        self._begins = [0, *accumulate(len(line) + 1 for line in text.split("\n"))]

    def place(self, offset: int) -> tuple[int, int]:
        """The line, from 1, and the number of characters before the offset in it."""
        line = bisect_right(self._begins, offset)
        return line, offset - self._begins[line - 1]
