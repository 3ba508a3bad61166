"""The search for the statements that a grammar cannot read, so that an error costs its statement and not the file."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise

from ci_eval.core.grammar.repairs.repair import Span

Lost = Callable[[bytes], int]
"""A function that returns how many bytes of a text the grammar loses."""
_LINE = re.compile(rb"^([ \t]*)([^\s#].*|#\[.*)$", re.MULTILINE)
# A line that begins so goes on with what stands above it.
_GOES_ON = re.compile(
    rb"\{|//|/?\*|(?:else|elif|elsif|elseif|except|rescue|finally|ensure|catch|when|case|default|then|do|while)\b"
)
_BRACKETS = {b"}": b"{", b")": b"(", b"]": b"["}
_CLOSES = re.compile(rb"[})\]]|end\b")
# An annotation alone on its line belongs to the line below it.
_ANNOTATION = re.compile(rb"(?:@[\w.]+(?:\(.*\))?|#?\[.*\]|template\s*<.*>)\s*$")
_SPANNING = re.compile(rb"\"\"\"[\s\S]*?\"\"\"|'''[\s\S]*?'''|/\*[\s\S]*?\*/")
_TEXT = re.compile(rb"\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])'|//[^\n]*")
_FINEST_BYTES = 40_000_000
"""The most bytes that are parsed for one search; a search stops at the pieces that it has then."""


def pieces(text: bytes, begin: int, end: int) -> list[Span]:
    """Return the pieces of a range: each begins with a line of the smallest indentation, and has the lines below it."""
    inside = [match.span() for match in _SPANNING.finditer(text, begin, end) if b"\n" in match[0]]
    lines = [(match.start(), len(match[1]), match[2]) for match in _LINE.finditer(text, begin, end)]
    least = min((indent for _, indent, _ in lines), default=0)
    starts: list[int] = []
    annotated, skipped = False, 0
    for at, indent, line in lines:
        while skipped < len(inside) and inside[skipped][1] <= at:
            skipped += 1
        spanned = skipped < len(inside) and inside[skipped][0] < at
        if indent == least and not spanned:
            if not starts or not (annotated or _GOES_ON.match(line) or _closes(text[starts[-1] : at], line)):
                starts.append(at)
            annotated = _ANNOTATION.match(line) is not None
    return list(pairwise([*starts, end]))


def _closes(code: bytes, line: bytes) -> bool:
    """Return whether a line begins with what closes a bracket or a block of the code before it."""
    if line[:1] not in _BRACKETS:
        return _CLOSES.match(line) is not None
    code = _TEXT.sub(b"", code)
    return code.count(_BRACKETS[line[:1]]) > code.count(line[:1])


def blank_spans(text: bytes, spans: Sequence[Span]) -> bytes:
    """Return the text with spaces in place of pieces; line ends stay."""
    out = bytearray(text)
    for begin, end in spans:
        out[begin:end] = re.sub(rb"[^\n]", b" ", text[begin:end])
    return bytes(out)


def alone(text: bytes, spans: Sequence[Span], head: bytes) -> bytes:
    """Return a text of the same length that has some pieces alone, and `head`: what must stand at the beginning of a
    file."""
    out = bytearray(b" " * len(text))
    out[: len(head)] = head
    for span in spans:
        out[slice(*span)] = text[slice(*span)]
    return bytes(out)


class Search:
    """A search for the smallest pieces of a text that cannot be read where they are."""

    def __init__(self, text: bytes, layout: bytes, head: bytes, lost: Lost) -> None:
        """Make a search in a text that may be rewritten; `layout` is the text as it was, as long, whose lines count."""
        self._text = text
        self._layout = layout
        self._head = head
        self._lost = lost
        self._bytes = 0

    def unreadable(self) -> list[Span]:
        """Return the pieces without which the other text can be read."""
        return list(self._search((len(self._head), len(self._text)), self._head, b""))

    def _fails(self, code: bytes) -> bool:
        self._bytes += len(code)
        return self._lost(code) > 0

    def _search(self, span: Span, before: bytes, after: bytes) -> Iterator[Span]:
        """Yield the pieces of a range that cannot be read between two texts."""
        text = self._text
        spans = pieces(self._layout, *span)
        paired = _paired([text[slice(*piece)] for piece in spans])
        for number, piece in enumerate(spans):
            code = text[slice(*piece)]
            if number in paired or self._bytes > _FINEST_BYTES or not self._fails(before + code + after):
                continue
            # An `else` or the name behind its type may be a piece: with its neighbour it can be read.
            neighbours = [text[slice(*other)] for other in spans[max(number - 1, 0) : number + 2]]
            if all(self._fails(before + first + second + after) for first, second in pairwise(neighbours)):
                yield from self._inside(piece, before, after)

    def _inside(self, piece: Span, before: bytes, after: bytes) -> list[Span]:
        """Return the parts of a piece that cannot be read, or the piece if it takes all of them."""
        text, layout = self._text, self._layout
        begin = layout.find(b"\n", *piece) + 1
        end = layout.rfind(b"\n", begin, piece[0] + len(layout[slice(*piece)].rstrip())) + 1
        last = layout[end : piece[1]].strip()
        # If no bracket or word stands alone on the last line, that line is one of the statements.
        if not _CLOSES.match(last):
            end = piece[1]
        if not 0 < begin < end:
            return [piece]
        parts = list(self._search((begin, end), before + text[piece[0] : begin], text[end : piece[1]] + after))
        size = sum(part[1] - part[0] for part in parts)
        code = blank_spans(text[slice(*piece)], [(at - piece[0], to - piece[0]) for at, to in parts])
        if parts and 2 * size < piece[1] - piece[0] and not self._fails(before + code + after):
            return parts
        return [piece]


def _paired(codes: Sequence[bytes]) -> set[int]:
    """Return the numbers of the pieces that open a block of further pieces, and of those that close it."""
    opened: list[int] = []
    paired: set[int] = set()
    for number, code in enumerate(codes):
        if code.rstrip().endswith((b"{", b"(", b"[")):
            opened.append(number)
        elif opened and _CLOSES.match(code.lstrip()):
            paired |= {opened.pop(), number}
    return paired
