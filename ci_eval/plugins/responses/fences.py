"""The fences of Markdown around code in an answer."""

from __future__ import annotations

import re
from dataclasses import dataclass

_OPENING = re.compile(r"(?P<indent> {0,3})(?P<fence>`{3,}|~{3,})[ \t]*(?P<info>[^`\n]*)")


@dataclass(frozen=True, kw_only=True)
class Fence:
    """The code between two fences; `begin` and `end` are the offsets of its text."""

    tag: str
    """The first word of the info string, in small letters."""
    text: str
    begin: int
    end: int
    start: int
    """The offset of the signs that open the fence."""
    is_closed: bool = True


def find_fences(text: str) -> list[Fence]:
    """Return the fences of a text in their order, by the rules of CommonMark (https://spec.commonmark.org, 4.5).

    A fence that is not closed goes on to the end of the text, and there is none if nothing follows it.
    """
    fences: list[Fence] = []
    opened: re.Match[str] | None = None
    start = begin = offset = 0
    for line in text.splitlines(keepends=True):
        bare = line.rstrip()
        if opened is None:
            if opened := _OPENING.fullmatch(bare):
                start, begin = offset + len(opened["indent"]), offset + len(line)
        elif (end := _closing_offset(bare, opened["fence"])) is not None:
            fences.append(_make_fence(text, opened, start, begin, offset + end))
            opened = None
        offset += len(line)
    if opened is not None and text[begin:].strip():
        fences.append(_make_fence(text, opened, start, begin, len(text), is_closed=False))
    return fences


def _closing_offset(line: str, fence: str) -> int | None:
    """Return the offset in the line at which the code ends, or None if it goes on."""
    sign, bare = fence[0], line.strip()
    if len(bare) >= len(fence) and not bare.strip(sign):
        return 0
    # Language models also close a fence on the last line of the code.
    is_end = line.endswith(fence) and line.count(sign) == len(fence)
    return len(line) - len(fence) if is_end else None


def _make_fence(text: str, opened: re.Match[str], start: int, begin: int, end: int, *, is_closed: bool = True) -> Fence:
    begin = min(begin, end)
    # The end of the last line is no part of the code.
    end = begin + len(text[begin:end].rstrip("\r\n")) if is_closed else end
    tag = re.split(r"[\s:,={]", opened["info"].strip().lstrip("{."), maxsplit=1)[0].rstrip("}").lower()
    return Fence(tag=tag, text=text[begin:end], begin=begin, end=end, start=start, is_closed=is_closed)
