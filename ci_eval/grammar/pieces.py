"""Cuts a text whose tree has errors into pieces, so that one that cannot be read does not take others with it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise

from ci_eval.grammar.repairs.repair import Span

Lost = Callable[[bytes], int]
"""How many bytes the grammar loses of a text."""
MOST = 60
"""Pieces that are tried in a text: trying one takes as long as parsing it."""
MUCH = 0.1
"""From this share of lost bytes on, a text is parsed once for each of its pieces."""
LONGEST = 4_000_000
"""Bytes that are parsed for that at most."""
_LINE = re.compile(rb"^([ \t]*)([^\s#].*)$", re.MULTILINE)
_GOES_ON = re.compile(rb"[})\]]|(?:else|elif|except|finally|catch)\b|//|/?\*")


def pieces(text: bytes, begin: int, end: int) -> list[Span]:
    """The parts of a range that begin with a line of the smallest indentation, and have others below it."""
    lines = [(match.start(), len(match[1]), match[2]) for match in _LINE.finditer(text, begin, end)]
    least = min((indent for _, indent, _ in lines), default=0)
    starts = [at for at, indent, line in lines if indent == least and not _GOES_ON.match(line)]
    return list(pairwise([*starts, end])) if starts else []


def inner(text: bytes, piece: Span) -> list[Span]:
    """The pieces of what stands between the first line of a piece and its last."""
    begin = text.find(b"\n", *piece) + 1
    end = text.rfind(b"\n", begin, piece[0] + len(text[slice(*piece)].rstrip())) + 1
    return pieces(text, begin, end) if 0 < begin < end else []


def blanked(text: bytes, spans: Sequence[Span]) -> bytes:
    """The text with spaces in place of pieces."""
    out = bytearray(text)
    for begin, end in spans:
        out[begin:end] = re.sub(rb"[^\n]", b" ", text[begin:end])
    return bytes(out)


def alone(text: bytes, spans: Sequence[Span], head: bytes) -> bytes:
    """A text that has some pieces alone, and what must stand at the beginning of a file."""
    out = bytearray(b" " * len(text))
    out[: len(head)] = head
    for span in spans:
        out[slice(*span)] = text[slice(*span)]
    return bytes(out)


def unreadable(text: bytes, head: bytes, lost: Lost) -> list[Span]:
    """The pieces without which the rest can be read: whole ones, or parts of them where that is enough."""
    outermost = pieces(text, len(head), len(text))
    found = [part for piece in outermost[:MOST] for part in _parts(text, piece, head, lost)]
    rest = blanked(text, found)
    left = lost(rest)
    if left > len(text) * MUCH and len(outermost) <= MOST and len(text) * len(outermost) < LONGEST:
        # A bracket too many, or one too few, can only be told from `namespace x {` by leaving the piece out.
        for piece in outermost:
            less = blanked(rest, [piece])
            if piece not in found and (after := lost(less)) + len(text[slice(*piece)].strip()) < left:
                rest, left = less, after
                found = [span for span in found if not piece[0] <= span[0] < piece[1]] + [piece]
    return found


def _parts(text: bytes, piece: Span, head: bytes, lost: Lost) -> Iterator[Span]:
    code = text[slice(*piece)]
    whole = lost(head + code) if _is_balanced(code) else 0
    if not whole:
        return
    parts = []
    inside = inner(text, piece)[:MOST]
    for part in inside if len(code) * len(inside) < LONGEST else []:
        begin, end = part[0] - piece[0], part[1] - piece[0]
        less = blanked(code, [(begin, end)])
        rest = lost(head + less)
        if rest + len(code[begin:end].strip()) < whole:
            parts.append(part)
            code, whole = less, rest
    yield from parts or [piece]


def _is_balanced(code: bytes) -> bool:
    return all(code.count(left) == code.count(right) for left, right in ((b"{", b"}"), (b"(", b")"), (b"[", b"]")))
