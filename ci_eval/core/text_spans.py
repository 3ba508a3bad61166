"""The end of a word, line, statement or block, by the same rules in files, in answers, and for all languages."""

from __future__ import annotations

import re
from bisect import bisect_right
from itertools import accumulate

from ci_eval.core.model import Span

# Three quotes come first: otherwise two of them would be read as an empty text.
_PIECES = re.compile(
    r'"""(?:[^\\]|\\.)*?"""|\'\'\'(?:[^\\]|\\.)*?\'\'\'|"(?:[^"\\\n]|\\.)*"|\'(?:[^\'\\\n]|\\.)*\'|[()\[\]{};\n]|\\\n',
    re.DOTALL,
)
"""Texts in quotes, brackets, ends of statements, and an escaped end of line."""
_CLOSING = re.compile(r"[)\]};,]+|end\W*")
"""A line that closes a block, and begins no other as `} else {` does."""
_WORD = re.compile(r"\w+")


def cut(text: str, before: str, span: Span, word: re.Pattern[str] = _WORD) -> str:
    """Return the span at the beginning of `text`, which is the text after the caret; `before` is the text before it.

    word: the match of `word`. line: up to the end of the line. statement: up to the first `;` or line end outside of
    brackets that were opened after the caret. block: the line, the deeper lines below it, and the line that closes
    them. text: everything. Blanks at the ends of lines are left out.
    """
    return "\n".join(line.rstrip() for line in text[: _end(text, before, span, word)].split("\n")).rstrip()


def extent(text: str, before: str, span: Span, word: re.Pattern[str] = _WORD) -> int:
    """Return how many characters of the text `cut` takes, without blanks at its end."""
    return len(text[: _end(text, before, span, word)].rstrip())


def is_whole(text: str, before: str, span: Span, word: re.Pattern[str] = _WORD) -> bool:
    return _end(text, before, span, word) is not None


def _end(text: str, before: str, span: Span, word: re.Pattern[str]) -> int | None:
    match span:
        case "word" | "around":
            match = word.match(text)
            end = match.end() if match else 0
            return end if end < len(text) else None
        case "line":
            return _offset_or_none(text.find("\n"))
        case "statement":
            depth = 0
            for piece in _PIECES.finditer(text):
                # A bracket that was opened before the caret makes the depth negative: it does not count.
                depth += (piece[0] in "([{") - (piece[0] in ")]}")
                if depth <= 0 and piece[0] in {";", "\n"}:
                    return piece.end() if piece[0] == ";" else piece.start()
            return None
        case "block":
            return _end_of_block(text, _indent(before.rpartition("\n")[2] + text))
        case "text":
            return None


def _offset_or_none(offset: int) -> int | None:
    return None if offset < 0 else offset


def _end_of_block(text: str, indent: int) -> int | None:
    """Return None if the block may go on. `indent`: blanks before the line of the caret."""
    end = offset = _offset_or_none(text.find("\n"))
    if offset is None or end is None:
        return None
    deeper = False
    for line in text[offset + 1 :].split("\n"):
        offset += 1 + len(line)
        if not line.strip():
            continue
        if _indent(line) > indent:
            deeper, end = True, offset
        elif deeper and _indent(line) == indent and _CLOSING.fullmatch(line.strip()):
            # A line that is not over may go on as `} else {` does.
            return offset if offset < len(text) else None
        else:
            return end
    return None


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip(" \t"))


class Lines:
    """The offsets of line begins, to find the lines of many offsets quickly. A line ends with a line feed."""

    def __init__(self, text: str) -> None:
        self._begins = [0, *accumulate(len(line) + 1 for line in text.split("\n"))]

    def place(self, offset: int) -> tuple[int, int]:
        """Return the line, from 1, and the column, from 0."""
        line = bisect_right(self._begins, offset)
        return line, offset - self._begins[line - 1]
