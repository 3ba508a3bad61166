"""The fences around code in an answer, and listings that are numbered, prompted, escaped, or a diff."""

from __future__ import annotations

import html
import re
from bisect import bisect_right
from collections.abc import Callable, Iterator
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


_ENTITY = re.compile(r"&(?:lt|gt|amp|quot|apos|#0?39|#x27);")
_QUOTED = re.compile(r"\"(?:[^\"\\\n]|\\.)*\"|'(?:[^'\\\n]|\\.)*'|`(?:[^`\\\n]|\\.)*`")
_DIFF_HEAD = re.compile(r"(?:diff --git|index [0-9a-f]{4,}\.\.|--- |\+\+\+ |@@ |new file mode|\\ No newline)")
_NUMBERED = re.compile(r"[ \t]*(?P<number>\d{1,4})(?:[ \t]?[:|.)│][ \t]?|\t|[ \t]{2,}|$|[ \t](?=\S))(?P<code>.*)")
_PROMPT = re.compile(r"[ \t]*(?:>>>|\.\.\.)(?: (?P<code>.*)|$)")


def strip_listing(code: str, tag: str, names: set[str]) -> str:
    """Return the code of a listing without what stands before its lines. `tag`: the language of its fence, or an empty
    text; `names`: the tags of the language."""
    lines = code.split("\n")
    # Some put the language on a line of its own.
    if len(lines) > 1 and tag not in names and lines[0].strip().lower() in names:
        return strip_listing("\n".join(lines[1:]), tag, names)
    if tag in {"diff", "patch"}:
        return "\n".join(line[1:] if line[:1] in {"+", " "} else line for line in lines if _is_new(line))
    for strip in (_strip_prompts, _strip_numbers):
        if (stripped := strip(lines)) is not None:
            return stripped
    if "<" in code or ">" in code or not _ENTITY.search(_QUOTED.sub("", code)):
        return code
    return html.unescape(code)


def unescape_lines(text: str, is_code: Callable[[str], bool]) -> str:
    """Return a text with line ends in place of the escapes `\\n`, if it is one line that is no code otherwise."""
    line = text.strip()
    if "\n" in line or "\\n" not in line:
        return text
    # A fence in one line holds code as it stands, unless an escape ends the line of its signs.
    is_opened = re.match(r"`{3,}[\w+#.-]*[ \t]*\\n", line)
    if not is_opened and (line.startswith("```") or is_code(line)):
        return text
    escapes = {"n": "\n", "t": "\t", "r": "", '"': '"', "'": "'", "\\": "\\"}
    return re.sub(r"\\(.)", lambda match: escapes.get(match[1], match[0]), line)


def _is_new(line: str) -> bool:
    return not line.startswith("-") and not _DIFF_HEAD.match(line)


def _strip_prompts(lines: list[str]) -> str | None:
    """Return what was typed at Python's prompt, or None without one."""
    if not next((line for line in lines if line.strip()), "").lstrip().startswith(">>> "):
        return None
    matches = map(_PROMPT.fullmatch, lines)
    return "\n".join(match["code"] or "" for match in matches if match).strip("\n")


def _strip_numbers(lines: list[str]) -> str | None:
    """Return numbered lines without their numbers, or None unless the numbers rise by one from line to line."""
    filled = [line for line in lines if line.strip()]
    matches = [match for line in filled if (match := _NUMBERED.fullmatch(line))]
    if len(filled) < 2 or len(matches) < len(filled):
        return None
    numbers = [int(match["number"]) for match in matches]
    if numbers != list(range(numbers[0], numbers[0] + len(numbers))):
        return None
    return "\n".join(match["code"] for match in matches)
