"""A reader of the part of a response that would be inserted at a caret."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from ci_eval.plugins.responses.cleaning import Pairs, bounds
from ci_eval.plugins.responses.fences import find_fences

_PHRASE = re.compile(
    r"\s*(?:here(?:'s| is| are)|sure|certainly|of course|okay|the (?:completion|code|rest|answer|missing)|completion|"
    r"answer|output|вот|конечно|продолжение|ответ|дополнение|код|недостающ\w+)\b[^\n{}()=;]*:[ \t]*\n+",
    re.IGNORECASE,
)
"""The pattern of a line of words before the code."""
_TAG = re.compile(r"\s*<(?P<tag>code|completion|answer|fill|hole|middle)/?>", re.IGNORECASE)
_CLOSING_TAG = re.compile(r"</(?:code|completion|answer|fill|hole|middle)>|<HOLE/>", re.IGNORECASE)


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
    answer = text[begin:end]
    # All offsets stay the same, since a blank replaces the CR.
    normal = answer.replace("\r\n", " \n")
    if fences := [fence for fence in find_fences(normal) if fence.text.strip()] or find_fences(normal):
        fence = fences[0]
        # The end of the last line is no part of it, nor is a CR before that.
        stop = len(answer[: fence.end].rstrip("\r\n")) if fence.is_closed else fence.end
        return Inserted(begin=begin + fence.begin, end=begin + max(stop, fence.begin), rules=(*rules, "fence"))
    stripped = answer.strip()
    if ticks := re.fullmatch(r"(`+)([^`]*)\1|``", stripped, re.DOTALL):
        start = begin + answer.index(stripped) + len(ticks[1] or "``")
        return Inserted(begin=start, end=start + len(ticks[2] or ""), rules=(*rules, "backticks"))
    if tag := _TAG.match(answer):
        closing = _CLOSING_TAG.search(answer, tag.end())
        behind = closing.start() if closing else len(answer)
        return Inserted(begin=begin + tag.end(), end=begin + behind, rules=(*rules, "tags"))
    if closing := _CLOSING_TAG.search(answer):
        return Inserted(begin=begin, end=begin + closing.start(), rules=(*rules, "tags"))
    if phrase := _PHRASE.match(answer):
        return Inserted(begin=begin + phrase.end(), end=end, rules=(*rules, "words before"))
    return Inserted(begin=begin, end=end, rules=rules)
