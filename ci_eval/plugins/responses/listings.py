"""A reader of code as listings show it: with signs of a diff, prompts, line numbers or escapes on its lines."""

from __future__ import annotations

import html
import re
from collections.abc import Callable

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
