"""A reader of the part of a response that would be inserted at a caret."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from ci_eval.plugins.responses.cleaning import Pairs, bounds
from ci_eval.plugins.responses.fences import Fence, find_fences
from ci_eval.plugins.responses.marks import ALIASES

_OPENERS = (
    r"here(?:['’]s| is| are| you)|sure|certainly|of course|okay|the (?:completion|code|rest|answer|missing)|вот|"
    r"конечно|недостающ\w+"
)
_PHRASE = re.compile(
    rf"\s*(?:{_OPENERS}|completion|answer|output|продолжение|ответ|дополнение|код)\b[^\n{{}}()=;]*:[ \t]*\n+",
    re.IGNORECASE,
)
"""The pattern of a line of words before the code."""
_WORDS = re.compile(rf"(?:\A|\n)[ \t]*(?:{_OPENERS})\b[^\n{{}}()=;]*\s*\Z", re.IGNORECASE)
"""The pattern of a last line of words, where a fence follows: without a colon, and not a name alone, as `answer`."""
_HEADING = re.compile(r"\s*(?:Answer|Completion|Output|Ответ|Продолжение)[ \t]*:[ \t]+(?=\S)")
"""The pattern of words in the line of the code, with a capital, since `answer: int` is code."""
_TAGS = "code|completion|answer|fill|hole|middle|python|java|javascript|typescript|go|csharp"
_TAG = re.compile(rf"\s*(?:<(?:{_TAGS})/?>|\[(?:{_TAGS})\])", re.IGNORECASE)
_CLOSING_TAG = re.compile(rf"</(?:{_TAGS})>|\[/(?:{_TAGS})\]|<HOLE/>", re.IGNORECASE)
_WRAPPED = (
    ("quotes", re.compile(r"\s*(?P<quotes>'''|\"\"\"|``)[A-Za-z+#]+\n(?P<code>.*)\n(?P=quotes)\s*", re.DOTALL)),
    ("backticks", re.compile(r"\s*(?P<ticks>`+)(?P<code>[^`]*)(?P=ticks)\.?\s*|\s*``\s*")),
    (
        "backticks",
        re.compile(
            r"\s*(?:the|here|this|it|missing|вот|здесь|недостающ\w+)\b[\w \t,:'’/-]*[ \t]`(?P<code>[^`\n]+)`\.?\s*",
            re.IGNORECASE,
        ),
    ),
    ("bold", re.compile(r"\s*\*\*(?P<code>(?:(?!\*\*).)+)\*\*\s*")),
    # A text with escapes is not part of the response as it stands.
    (
        "json",
        re.compile(r'\s*\{\s*"(?:completion|code|answer|text|result|output|insert)"\s*:\s*"(?P<code>[^"\\]*)"\s*\}\s*'),
    ),
)
"""The patterns of a response that consists of the code and signs around it, by the rule that the report counts."""
_NAMES = frozenset(name for names in ALIASES.values() for name in names)


@dataclass(frozen=True, kw_only=True)
class Inserted:
    """The part of a response from `begin` to `end`, and the rules that found it."""

    begin: int
    end: int
    rules: tuple[str, ...] = ()


def extract_insertion(text: str, thoughts: Pairs, ends: Sequence[str], *, chat: bool) -> Inserted:
    """Return the part of a response that goes on at the caret. `chat`: the model may have put it into a fence, or
    written words around it."""
    begin, end, rules = bounds(text, thoughts, ends)
    if not chat:
        return Inserted(begin=begin, end=end, rules=rules)
    start, stop, rule = _unwrap(text[begin:end])
    return Inserted(begin=begin + start, end=begin + stop, rules=(*rules, *([rule] if rule else [])))


def _unwrap(answer: str) -> tuple[int, int, str]:
    """Return the begin and end of the code in an answer, and the rule that found it; an empty text if all is code."""
    # All offsets stay the same, since a blank replaces the CR.
    normal = answer.replace("\r\n", " \n")
    if fences := [fence for fence in find_fences(normal) if fence.text.strip()] or find_fences(normal):
        begin, end = _fence_bounds(answer, fences[0])
        if begin >= fences[0].begin and (find_fences(normal[begin:end]) or fences[0].tag == "json"):
            # Some put all that they say, or an object, into a fence of its own.
            start, stop, _ = _unwrap(answer[begin:end])
            begin, end = begin + start, begin + stop
        return begin, end, "fence"
    for rule, pattern in _WRAPPED:
        if match := pattern.fullmatch(normal):
            begin, end = match.span("code") if match["code"] is not None else (len(answer), len(answer))
            return begin, end, rule
    closing = _CLOSING_TAG.search(answer)
    if tag := _TAG.match(answer):
        closing = _CLOSING_TAG.search(answer, tag.end())
        return tag.end(), closing.start() if closing else len(answer), "tags"
    if closing:
        return 0, closing.start(), "tags"
    if phrase := _PHRASE.match(answer) or _HEADING.match(answer):
        return phrase.end(), len(answer), "words before"
    return 0, len(answer), ""


def _fence_bounds(answer: str, fence: Fence) -> tuple[int, int]:
    """Return the begin and end of the code in a fence, or before one that only ends a fence which the prompt began."""
    before = answer[: fence.start].rstrip("\r\n")
    is_said = before.rstrip().endswith(":") or _WORDS.search(before)
    if not fence.is_closed and not fence.tag and before.strip() and not is_said:
        return 0, len(before)
    begin = fence.begin
    # Some put the language on a line of its own.
    first = re.match(r"[ \t]*(\S+)[ \t]*\r?\n", answer[begin : fence.end])
    if not fence.tag and first and first[1].lower() in _NAMES:
        begin += first.end()
    # A fence that is indented, as in a list, has its code indented alike.
    indent = re.search(r"[ \t]*\Z", answer[: fence.start])
    if indent and answer[begin:].startswith(indent[0]):
        begin += len(indent[0])
    # The end of the last line is no part of it, nor is a CR before that.
    stop = len(answer[: fence.end].rstrip("\r\n")) if fence.is_closed else fence.end
    return begin, max(stop, begin)
