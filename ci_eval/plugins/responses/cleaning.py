"""A cleaner of responses that removes what is no part of the answer at either end: thoughts, tokens of templates."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from ci_eval.plugins.responses.marks import AMBIGUOUS_SENTINEL, ROLE, SENTINEL, THOUGHTS, Pairs

_BLANKS = re.compile(r"(?:[ \t\r]*\n)+")
_FINAL = re.compile(
    r"(?:.*<\|(?:end|return|call)\|>)?(?:<\|start\|>assistant)?<\|channel\|>final<\|message\|>", re.DOTALL
)
"""The pattern of all before the final channel of harmony (gpt-oss)."""


@dataclass(frozen=True, kw_only=True)
class Cleaned:
    """A response without what surrounds the answer."""

    text: str
    thought: str = ""
    rules: tuple[str, ...] = ()
    """The kinds of text that were removed: "thought", "end token"."""


def clean(text: str, thoughts: Pairs = (), ends: Sequence[str] = ()) -> Cleaned:
    """Return the answer in a response. `thoughts` and `ends` are marks besides the known ones."""
    plain = text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
    answer = end_of_thought(plain, thoughts)
    begin, end = bounds(plain, answer, ends)
    # Both marks of HTML's struck text, if there is one, are part of the answer.
    if not ("<s>" in plain[begin:end] and "</s>" in plain[begin:end]):
        begin, end = bounds(plain, answer, ends, ambiguous=True)
    is_cut = plain[begin:end].strip() != plain[answer:].strip()
    rules = [*(["thought"] if answer else []), *(["end token"] if is_cut else [])]
    return Cleaned(text=plain[begin:end], thought=plain[:answer].strip(), rules=tuple(rules))


def end_of_thought(text: str, thoughts: Pairs = ()) -> int:
    """Return the offset at which the answer begins, after the thoughts and the blank lines that follow them; 0 without
    any. A thought that is not closed is all of the text."""
    if final := _FINAL.match(text):
        return final.end()
    pairs, offset = (*thoughts, *THOUGHTS), 0
    while opened := _opened(text, offset, pairs):
        end = text.find(opened[1], offset)
        offset = end + len(opened[1]) if end >= 0 else len(text)
    for _, closing in pairs:
        # Templates swallow the first opening mark: a closing mark alone ends a thought that began with the answer. In
        # quotes it is code.
        mark = re.compile(rf"(?<![\"'`]){re.escape(closing)}(?![\"'`])")
        if not closing.startswith("<|") and (match := mark.search(text, offset)):
            offset = match.end()
    blank = _BLANKS.match(text, offset) if offset else None
    return blank.end() if blank else offset


def _opened(text: str, offset: int, pairs: Pairs) -> tuple[str, str] | None:
    begin = text[offset:].lstrip()[:80].lower()
    return next((pair for pair in pairs if begin.startswith(pair[0].lower())), None)


def bounds(text: str, begin: int, ends: Sequence[str] = (), *, ambiguous: bool = False) -> tuple[int, int]:
    """Return the begin and end of the answer, which begins at `begin`, between the tokens of templates at either end.

    `ends`: tokens besides the known ones; `ambiguous`: also leave out those that may be code.
    """
    pattern = "|".join((SENTINEL, *([AMBIGUOUS_SENTINEL, *map(re.escape, ends)] if ambiguous else [])))
    if opened := re.compile(rf"\s*(?:(?:{pattern}){ROLE}[ \t]*)+").match(text, begin):
        blank = _BLANKS.match(text, opened.end())
        begin = blank.end() if blank else opened.end()
    end = len(text)
    # From the end backwards, since a search for a repeated group would try every offset.
    last = re.compile(rf"[ \t]*(?:{pattern})\s*\Z")
    while match := last.search(text, max(begin, end - LONGEST), end):
        end = match.start()
    return begin, end


LONGEST = 100
"""The most characters of a token and the blanks around it."""
