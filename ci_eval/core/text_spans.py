"""Rules for where a word, line, statement or block ends. They are the same for files, answers and all languages."""

from __future__ import annotations

import re
from bisect import bisect_right
from itertools import accumulate

from ci_eval.core.model import Span

# Triple quotes come first: otherwise the first two quotes would match as an empty string.
_PIECES = re.compile(
    r'"""(?:[^\\]|\\.)*?"""|\'\'\'(?:[^\\]|\\.)*?\'\'\'|"(?:[^"\\\n]|\\.)*"|\'(?:[^\'\\\n]|\\.)*\'|[()\[\]{};\n]|\\\n',
    re.DOTALL,
)
"""Quoted strings, brackets, ends of statements, and escaped line ends."""
_CLOSING = re.compile(r"[)\]};,]+|end\W*")
"""A line that only closes a block. A line such as `} else {` also begins another block."""
_WORD = re.compile(r"\w+")


def cut(text: str, before: str, span: Span, word: re.Pattern[str] = _WORD) -> str:
    """Return the span at the beginning of `text`, the text after the caret. `before` is the text before the caret.

    word, around: the match of the pattern `word`. line: up to the end of the line. statement: up to the first `;` or
    line end outside of brackets that were opened after the caret. block: the line, the deeper indented lines below it,
    and the line that closes them. text: the whole text. Blanks at the ends of lines are removed.
    """
    return "\n".join(line.rstrip() for line in text[: _end(text, before, span, word)].split("\n")).rstrip()


def extent(text: str, before: str, span: Span, word: re.Pattern[str] = _WORD) -> int:
    """Return the length of the span at the beginning of `text` (see `cut`), without blanks at the end of the span."""
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
                # A bracket that was opened before the caret does not count; its closing makes the depth negative.
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
    """Return a block's end; None if it may continue after `text`. `indent`: the indentation of the caret's line."""
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
            # If `text` ends within this line, the line may continue, as in `} else {`.
            return offset if offset < len(text) else None
        else:
            return end
    return None


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip(" \t"))


class Lines:
    """The offsets at which the lines of a text begin. Lines end with a line feed."""

    def __init__(self, text: str) -> None:
        self._begins = [0, *accumulate(len(line) + 1 for line in text.split("\n"))]

    def place(self, offset: int) -> tuple[int, int]:
        """Return the line (from 1) and the column (from 0) of an offset."""
        line = bisect_right(self._begins, offset)
        return line, offset - self._begins[line - 1]
