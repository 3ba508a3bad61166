"""A reader of the comments in an answer: in JSON, in a table, below headings, in a list."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from ci_eval.plugins.responses import words
from ci_eval.plugins.responses.fences import find_fences, mask_fences
from ci_eval.plugins.responses.structured import find_json, find_texts, read_column

_NUMBER = r"(?:\d{1,2}|[ivx]{1,4}|[a-zа-я](?=[ \t]*[:.)]))"
_WHERE = (
    r"(?:[ \t]*(?:\([^()\n]{1,80}\)|\[[^\[\]\n]{1,80}\]|"
    r",?[ \t]*(?:строк[аи]|line|lines|стр\.?|L)[ \t]*\d[\d \t,–-]*))?"
)
"""The location that the comment belongs to, between number and colon."""
_NOUN = "|".join(re.escape(noun) for noun in sorted(words.NOUNS, key=len, reverse=True))
_EM = r"(?:\*+(?![\w*])|_+(?!\w)|\]|</(?:h[1-6]|b|strong)>)*"
"""The end of emphasis; signs before a letter are a name's, as in `__init__` and `**kwargs`."""
_LEAD = r"(?:[ \t]*<(?:h[1-6]|b|strong)>)*[ \t>#*_|•+`-]*(?:(?:\d{1,2}|[a-zа-я])[.)][ \t]+)?[*_#`]*"
_HEAD = rf"(?:{_NOUN})[ \t]*(?:[#№]|n[°º.]|no\.|номер|number)?[ \t]*(?P<number>{_NUMBER})(?!\w)[ \t]*{_EM}{_WHERE}{_EM}"
_COLON = rf"[ \t]*{_EM}(?:[:：.)=|]|[-–—]+>?|→)[ \t]*{_EM}[ \t]*(?:[:–—][ \t]*)?{_EM}[ \t]*"
_BRACKET = r"[\[({<]?"

HEADING = re.compile(
    rf"^{_LEAD}{_BRACKET}{_HEAD}[\])}}>]?(?:{_COLON}|[ \t]*{_EM}[ \t]*$)", re.IGNORECASE | re.MULTILINE
)
ORDINAL = re.compile(
    rf"^{_LEAD}(?:\d{{1,2}}(?:-?(?:й|ый|ий|ой|е|ое|я|st|nd|rd|th)|[.)])?|перв\w+|втор\w+|трет\w+|четв[её]рт\w+|"
    rf"пят\w+|first|second|third|fourth|fifth|last|последн\w+)[ \t]+(?:{_NOUN})\w*{_WHERE}{_EM}[ \t]*[:–—-]"
    rf"[ \t]*{_EM}[ \t]*",
    re.IGNORECASE | re.MULTILINE,
)
UNNUMBERED = re.compile(rf"^{_LEAD}(?:{_NOUN}){_WHERE}{_EM}[ \t]*[:：][ \t]*{_EM}[ \t]*", re.IGNORECASE | re.MULTILINE)
IN_LINE = re.compile(
    rf"(?:^|(?<=[\s*_|;]))[*_#>\[]*{_HEAD}[ \t]*[:：–—-][ \t]*{_EM}[ \t]*", re.IGNORECASE | re.MULTILINE
)
"""The pattern of a heading within a line, which counts only if the numbers rise by one."""
ITEM = re.compile(
    r"^(?P<indent>[ \t]*)[>#*_ \t]*(?:[#№][ \t]*)?[(\[]?(?:\d{1,2}(?:[.)\]]+|:|\ufe0f?\u20e3|[ \t]+[-–—])|[①-⑩])"
    r"[*_]*(?:[ \t]+|(?=[А-ЯA-Z*_]))",
    re.MULTILINE,
)
BULLET = re.compile(r"^(?P<indent>[ \t]*)(?:[-*+•●▪◦‣–—→])[ \t]+", re.MULTILINE)
SECTION = re.compile(r"^(?P<indent>)#{1,6}[ \t]+", re.MULTILINE)

_EDGES = "*# \t\n"
_RULE = re.compile(r"(?m)^[ \t]*(?:-{3,}|\*{3,}|_{3,}|={3,})[ \t]*$")


@dataclass(frozen=True)
class _Mark:
    """A heading of a comment: its begin, end and number."""

    begin: int
    end: int
    number: str = ""
    indent: int = 0


def extract_comments(text: str) -> tuple[list[str], str]:
    """Return the comments in an answer without thoughts and tokens, and the rule that read them.

    A text that says that there is no comment, or that a prompt had in a comment's place, is no comment.
    """
    if (json_texts := _json(text)) is not None:
        return _select_comments(json_texts), "json"
    if (cells := read_column(mask_fences(text), re.compile(_NOUN, re.IGNORECASE))) and "\0" not in "".join(cells):
        return _select_comments(cells), "table"
    fences = find_fences(text)
    if len(fences) == 1 and not (text[: fences[0].start] + text[fences[0].stop :]).strip() and fences[0].tag in _PROSE:
        return extract_comments(fences[0].text)
    hidden = _mask_diffs(mask_fences(text))
    lists = {"number": _list(hidden, ITEM), "bullet": _list(hidden, BULLET)}
    outer = sorted(lists.items(), key=lambda item: min((mark.indent for mark in item[1]), default=0))
    for rule, marks in (("heading", _headings(hidden)), *outer, ("section", _sections(hidden))):
        if marks:
            ends = [*(mark.begin for mark in marks[1:]), len(text)]
            texts = [text[mark.end : end] for mark, end in zip(marks, ends, strict=True)]
            return _select_comments(_cut_closing_words(texts)), rule
    return _select_comments([text]), "whole"


def _json(text: str) -> list[str] | None:
    """Return the comments in an answer in JSON, or None if JSON is only what a comment displays."""
    parsed = find_json(text)
    if parsed is None or (parsed.share < MOST_OF and (parsed.share < SOME_OF or _headings(mask_fences(text)))):
        return None
    texts = find_texts(parsed.content, words.NAMES)
    return texts if texts or parsed.share >= MOST_OF else None


MOST_OF, SOME_OF = 0.9, 0.5
"""The lowest shares of JSON in an answer that is all JSON, fences aside, and in one with a few words around it."""
_PROSE = {"", "text", "txt", "markdown", "md", "plaintext"}


def _headings(text: str) -> list[_Mark]:
    numbered = [_mark(match) for match in HEADING.finditer(text)]
    in_line = _select_rising([_mark(match) for match in IN_LINE.finditer(text)])
    if len(in_line) > len(numbered) and (len(in_line) > 1 or not numbered):
        return in_line
    if numbered:
        return numbered
    others = (list(pattern.finditer(text)) for pattern in (ORDINAL, UNNUMBERED))
    return [_Mark(match.start(), match.end()) for match in next((marks for marks in others if marks), [])]


def _mark(match: re.Match[str]) -> _Mark:
    return _Mark(match.start(), match.end(), match["number"])


def _select_rising(marks: Sequence[_Mark]) -> list[_Mark]:
    """Return the headings whose numbers rise by one from the first. A reference to an earlier comment is no heading."""
    rising: list[_Mark] = []
    for mark in marks:
        if mark.number.isdigit() and (not rising or int(mark.number) == int(rising[-1].number) + 1):
            rising.append(mark)
    return rising


def _list(text: str, item: re.Pattern[str]) -> list[_Mark]:
    """Return the items at the left edge of a list. Items that are indented deeper belong to the one above."""
    marks = [
        _Mark(match.start(), match.end(), indent=len(match["indent"].expandtabs(4))) for match in item.finditer(text)
    ]
    least = min((mark.indent for mark in marks), default=0)
    # An item may be off by a blank.
    return [mark for mark in marks if mark.indent <= least + 1]


def _sections(text: str) -> list[_Mark]:
    marks = [_Mark(match.start(), match.end()) for match in SECTION.finditer(text)]
    return marks if len(marks) > 1 else []


def _mask_diffs(text: str) -> str:
    """Return the text with NUL characters in place of a diff without a fence."""
    lines = text.split("\n")
    begin = 0
    while begin < len(lines):
        end = begin
        while end < len(lines) and re.match(r"[-+]|@@|diff --git", lines[end]):
            end += 1
        # Lines that all begin with the same sign are a list, not a diff.
        run = lines[begin:end]
        if len(run) > 1 and len({line[0] for line in run}) > 1:
            lines[begin:end] = ["\0" * len(line) for line in run]
        begin = end + 1
    return "\n".join(lines)


def _cut_closing_words(texts: Sequence[str]) -> list[str]:
    """Return the comments without what a language model says behind the last one."""
    if len(texts) < 2:
        return list(texts)
    *first, last = texts
    body, blank, behind = last.rstrip().rpartition("\n\n")
    if blank and words.CLOSING.match(behind.lstrip(_EDGES)):
        last = body
    return [*first, last]


def _select_comments(texts: Sequence[str]) -> list[str]:
    return [text for raw in texts if (text := trim_comment(raw)) and not is_none(text)]


def is_none(text: str) -> bool:
    """Return whether a text in a comment's place says that there is no comment, or was the prompt's own."""
    bare = re.sub(r"\s+", " ", re.sub(r"[*_`~\"'«»“”()\[\]{}<>]", "", text)).strip(" .!…:;-–—").lower()
    return bare in words.NONE or bool(words.PLACEHOLDER.fullmatch(text.strip(" *_`\"'")))


def trim_comment(text: str) -> str:
    """Return a comment without its surroundings: what a heading left before it, lines between comments, and emphasis or
    quotes around all of it."""
    # The underscores of a name are no emphasis.
    text = _RULE.sub("", text).strip()
    while True:
        before = text
        text = re.sub(r"^(?:[:–—]|[*_]{1,3}[ \t\n]+|[-=][ \t]+)\s*", "", text)
        text = re.sub(r"[ \t\n]+(?:[*_]{1,3}|#+)$", "", text).strip()
        if len(re.findall(r"(?<!\*)\*\*(?!\*)", text)) % 2 and not re.match(r"\*\*[a-z_]+\b", text):
            text = text.removeprefix("**").removesuffix("**").strip()
        for pattern in _AROUND:
            if match := pattern.fullmatch(text):
                text = match[1].strip()
        if text == before:
            return text


_AROUND = (
    re.compile(r"\*{1,3}([^*]+)\*{1,3}"),
    re.compile(r"_([^_\s][^_]*\s[^_]*)_"),
    re.compile(r"__([^_\s](?:(?!__).)*\s(?:(?!__).)*)__", re.DOTALL),
    re.compile(r"«([^«»]+)»"),
    re.compile(r"“([^“”]+)”"),
    re.compile(r'"([^"]+)"'),
)
"""The emphasis and the quotes around a whole text."""
