"""The cutting of a text whose tree has errors into pieces, so that an unreadable piece does not take others with it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise

from ci_eval.core.grammar.repairs.repair import Span

Lost = Callable[[bytes], int]
"""A function that returns how many bytes of a text the grammar loses."""
# To try a piece takes as long as to parse it.
MOST = 60
"""The most pieces that are tried in a text."""
MUCH = 0.1
"""The share of lost bytes above which a text is parsed once for each of its pieces."""
LONGEST = 4_000_000
"""The most bytes that are parsed for such a search: the length of the text times its pieces."""
_LINE = re.compile(rb"^([ \t]*)([^\s#].*)$", re.MULTILINE)
# A line that begins so goes on with what stands above it.
_GOES_ON = re.compile(rb"[})\]]|(?:else|elif|except|finally|catch)\b|//|/?\*")


def pieces(text: bytes, begin: int, end: int) -> list[Span]:
    """Return the pieces of a range: each begins with a line of the smallest indentation, and has the lines below it."""
    lines = [(match.start(), len(match[1]), match[2]) for match in _LINE.finditer(text, begin, end)]
    least = min((indent for _, indent, _ in lines), default=0)
    starts = [at for at, indent, line in lines if indent == least and not _GOES_ON.match(line)]
    return list(pairwise([*starts, end])) if starts else []


def inner(text: bytes, piece: Span) -> list[Span]:
    """Return the pieces of what stands between the first line of a piece and its last."""
    begin = text.find(b"\n", *piece) + 1
    end = text.rfind(b"\n", begin, piece[0] + len(text[slice(*piece)].rstrip())) + 1
    return pieces(text, begin, end) if 0 < begin < end else []


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


def unreadable(text: bytes, head: bytes, lost: Lost) -> list[Span]:
    """Return the pieces without which the other text can be read: whole ones, or parts of them if that is enough."""
    # The smallest cut first: parts of pieces that are balanced in themselves.
    outermost = pieces(text, len(head), len(text))
    spans = [part for piece in outermost[:MOST] for part in _parts(text, piece, head, lost)]
    readable = blank_spans(text, spans)
    left = lost(readable)
    if left > len(text) * MUCH and len(outermost) <= MOST and len(text) * len(outermost) < LONGEST:
        # A bracket too many, or one too few, can only be told from `namespace x {` by leaving the piece out.
        for piece in outermost:
            less = blank_spans(readable, [piece])
            # All of a piece that is left out is lost, so its own bytes count.
            if piece not in spans and (after := lost(less)) + len(text[slice(*piece)].strip()) < left:
                readable, left = less, after
                spans = [span for span in spans if not piece[0] <= span[0] < piece[1]] + [piece]
    return spans


def _parts(text: bytes, piece: Span, head: bytes, lost: Lost) -> Iterator[Span]:
    code = text[slice(*piece)]
    # A piece with unbalanced brackets may be half of a construct, so it is not judged alone.
    whole = lost(head + code) if _is_balanced(code) else 0
    if not whole:
        return
    parts = []
    inside = inner(text, piece)[:MOST]
    for part in inside if len(code) * len(inside) < LONGEST else []:
        begin, end = part[0] - piece[0], part[1] - piece[0]
        less = blank_spans(code, [(begin, end)])
        left = lost(head + less)
        if left + len(code[begin:end].strip()) < whole:
            parts.append(part)
            code, whole = less, left
    yield from parts or [piece]


def _is_balanced(code: bytes) -> bool:
    return all(code.count(left) == code.count(right) for left, right in ((b"{", b"}"), (b"(", b")"), (b"[", b"]")))
