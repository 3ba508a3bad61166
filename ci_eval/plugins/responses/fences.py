"""A reader of Markdown's fences, as CommonMark has them (https://spec.commonmark.org/0.31.2/#fenced-code-blocks), and
as language models write them: opened behind words, closed behind code, nested in one of the same length, never closed.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice

from ci_eval.plugins.responses.marks import ALIASES, NO_CODE

_OPENING = re.compile(r"(?P<before>[ \t>]*(?:(?:[-*+]|\d+[.)])[ \t]+)?)(?P<fence>`{3,}|~{3,})[ \t]*(?P<info>[^`\n]*)")
_BEHIND_WORDS = re.compile(r"(?P<before>.*?[^`\n])(?P<fence>`{3,})[ \t]*(?P<info>\{?\.?[\w+#.-]*\}?)[ \t]*")
_TAGS = "|".join(sorted(map(re.escape, {*NO_CODE, *(tag for tags in ALIASES.values() for tag in tags)}), reverse=True))
# The first word is the code's own in `return x`, and in `text = x`.
_ONE_LINE = re.compile(
    rf"(?P<before>[^`]*?)`{{3,}}(?:(?P<info>{_TAGS})[ \t]+(?![-+*/%=<>&|?:.,]))?"
    r"(?P<code>[^`]+?)`{3,}[ \t]*(?P<behind>[^`]*)",
    re.IGNORECASE,
)
_OTHER_SIGNS = re.compile(r"\n[ \t]*(?:`{3,}|~{3,})\s*\Z")
_CLOSING = re.compile(r"\s*(?:`{3,}|~{3,})\s*")
_PLAIN = re.compile(r"[A-Za-z][\w+#.-]*")


@dataclass(frozen=True, kw_only=True)
class Fence:
    """The code between two fences; `begin` and `end` are the offsets of its text."""

    tag: str
    """The first word of the info string, in small letters; for a file's name its ending."""
    text: str
    begin: int
    end: int
    start: int
    """The offset of the signs that open the fence."""
    stop: int
    """The offset behind the line that closes the fence."""
    is_closed: bool = True


@dataclass
class _Opened:
    fence: str
    tag: str
    indent: str
    begin: int
    start: int
    depth: int = 0


def find_fences(text: str) -> list[Fence]:
    """Return the fences of a text, in their order. Line ends must be LF."""
    fences: list[Fence] = []
    opened: _Opened | None = None
    lines, offset = text.split("\n"), 0
    closings = [number for number, line in enumerate(lines) if _CLOSING.fullmatch(line)]
    for number, line in enumerate(lines):
        behind = min(offset + len(line) + 1, len(text))
        if opened is None:
            match = _ONE_LINE.fullmatch(line)
            if match and not match["behind"].strip():
                begin, end = offset + match.start("code"), offset + match.end("code")
                tag, start = parse_tag(match["info"] or ""), offset + match.end("before")
                fences.append(Fence(tag=tag, text=match["code"], begin=begin, end=end, start=start, stop=behind))
            else:
                opened = _open_fence(line, offset, behind)
        elif (closing := _closing(line, opened, _following(lines, closings, number))) is not None:
            fences.append(_close_fence(text, opened, offset + closing, behind))
            # A fence that was never closed ends where the next one begins.
            begins_next = not closing and _PLAIN.fullmatch(line.strip(" \t>`~"))
            opened = _open_fence(line, offset, behind) if begins_next else None
        offset = behind
    if opened:
        fences.append(_close_fence(text, opened, len(text), len(text), is_closed=False))
    return fences


def is_within(text: str, offset: int) -> bool:
    """Return whether the offset is within a fence that is closed behind it."""
    before = text[:offset]
    if "```" not in before and "~~~" not in before:
        return False
    return any(fence.begin <= offset < fence.end and fence.is_closed for fence in find_fences(text))


def mask_fences(text: str) -> str:
    """Return the text with NUL characters in place of all fences. The text keeps its length and its lines."""
    for fence in find_fences(text):
        inner = re.sub(r"[^\n]", "\0", text[fence.start : fence.stop])
        # The length stays the same, so the offsets of the other fences hold.
        text = text[: fence.start] + inner + text[fence.stop :]
    return text


def parse_tag(info: str) -> str:
    """Return the language that an info string names; examples: `python title="a"`, `{.python}`, `python:a.py`,
    `a.py`."""
    word = re.split(r"[\s:,={]", info.strip().lstrip("{."), maxsplit=1)[0].rstrip("}").lower()
    return word.rpartition(".")[2] if "." in word.strip(".") else word


def _open_fence(line: str, offset: int, behind: int) -> _Opened | None:
    match = _OPENING.fullmatch(line) or _BEHIND_WORDS.fullmatch(line)
    if match is None:
        return None
    is_plain = match.re is _OPENING and not match["before"].strip("> \t")
    indent = match["before"] if is_plain else ""
    return _Opened(match["fence"], parse_tag(match["info"]), indent, behind, offset + match.start("fence"))


def _following(lines: list[str], closings: list[int], number: int) -> Iterator[str]:
    """Yield the lines behind one that may close a fence."""
    yield from (lines[closing] for closing in closings[bisect_right(closings, number) :])


def _closing(line: str, opened: _Opened, following: Iterator[str]) -> int | None:
    """Return the offset in the line at which the code ends, or None if it goes on."""
    sign, length = opened.fence[0], len(opened.fence)
    text = line.strip().lstrip("> ") if ">" in opened.indent else line.strip()
    run = len(text) - len(text.lstrip(sign))
    if run >= length:
        info = text[run:].strip()
        if not info:
            if opened.depth:
                opened.depth -= 1
                return None
            return 0
        if _PLAIN.fullmatch(info) and _has_closings(following, opened.fence, opened.depth + 2):
            opened.depth += 1  # a fence within the code
            return None
        if not _PLAIN.fullmatch(info):
            return 0  # words behind the end
        return None if opened.depth else 0
    if sign == "`" and not opened.depth and text.endswith(opened.fence) and text.count("`") == length:
        return line.rindex(opened.fence)
    return None


def _has_closings(lines: Iterator[str], fence: str, least: int) -> bool:
    closings = (line for line in lines if line.strip().startswith(fence))
    return len(list(islice(closings, least))) == least


def _close_fence(text: str, opened: _Opened, end: int, stop: int, *, is_closed: bool = True) -> Fence:
    inner = text[opened.begin : end]
    if not is_closed:
        # Some close a fence by other signs than it was opened with.
        inner = _OTHER_SIGNS.sub("", inner)
        end = opened.begin + len(inner)
    code = inner.removesuffix("\n") if end and text[end - 1 : end] == "\n" else inner
    if opened.indent:
        width = opened.indent if ">" in opened.indent else None
        lines = code.split("\n")
        code = "\n".join(_dedent(line, opened.indent, quoted=width is not None) for line in lines)
    return Fence(
        tag=opened.tag, text=code, begin=opened.begin, end=end, start=opened.start, stop=stop, is_closed=is_closed
    )


def _dedent(line: str, indent: str, *, quoted: bool) -> str:
    if quoted:
        return re.sub(r"^[ \t]*(?:>[ \t]?)+", "", line)
    blank = len(line) - len(line.lstrip(" \t"))
    return line[min(blank, len(indent)) :]
