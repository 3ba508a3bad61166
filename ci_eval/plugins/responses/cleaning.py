"""A cleaner of responses that removes what is no part of the answer: thoughts, tokens of the chat template, foreign
line ends."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from ci_eval.plugins.responses import marks
from ci_eval.plugins.responses.fences import is_within

_QUOTES = {"`", '"', "'"}

Pairs = tuple[tuple[str, str], ...]


@dataclass(frozen=True, kw_only=True)
class Cleaned:
    """A response without what surrounds the answer."""

    text: str
    thought: str = ""
    rules: tuple[str, ...] = ()
    """The kinds of text that were removed: "thought", "end token"."""


def clean(text: str, thoughts: Pairs = (), ends: Sequence[str] = ()) -> Cleaned:
    """Return the answer in a response. `thoughts` and `ends` are marks beside the known ones."""
    normal = normalise_blanks(text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n"))
    parts = list(_parts(normal, thoughts))
    answer = "".join(part for part, is_thought in parts if not is_thought)
    thought = "\n".join(part.strip() for part, is_thought in parts if is_thought)
    whole = _unwrap(answer[slice(*_turn(answer, tuple(ends)))])
    is_cut = len(whole.strip()) < len(answer.strip())
    rules = [*(["thought"] if thought else []), *(["end token"] if is_cut else [])]
    return Cleaned(text=whole, thought=thought, rules=tuple(rules))


def normalise_blanks(text: str) -> str:
    """Return the text with plain blanks at the begin of its lines. No-break and zero-width blanks look like plain ones,
    or like none, but are no indentation to a parser."""
    return marks.BLANKS.sub(lambda match: match[0].translate(marks.PLAIN_BLANKS), text)


def bounds(text: str, thoughts: Pairs = (), ends: Sequence[str] = ()) -> tuple[int, int, tuple[str, ...]]:
    """Return the begin and end of the answer in a response that goes on at a caret, and what was left out.

    The first text behind all leading thoughts is the answer; its indentation belongs to it.
    """
    offset, is_behind = 0, False
    for part, is_thought in _parts(text, thoughts):
        if not is_thought and part.strip():
            break
        offset, is_behind = offset + len(part), is_behind or is_thought
    else:
        part = ""
    if is_behind and (blank := re.match(r"(?:[ \t\r]*\n)+", part)):
        offset, part = offset + blank.end(), part[blank.end() :]
    begin, end = _turn(part, tuple(ends))
    rules = [*(["thought"] if is_behind else []), *(["end token"] if end - begin < len(part) else [])]
    return offset + begin, offset + end, tuple(rules)


def _parts(text: str, thoughts: Pairs) -> Iterator[tuple[str, bool]]:
    """Yield the parts of a text, and whether each is a thought, marks included."""
    if marks.CHANNEL.search(text):
        offset = 0
        for match in marks.CHANNEL.finditer(text):
            end = marks.CHANNEL_END.search(text, match.end())
            behind = end.start() if end else len(text)
            yield text[offset : match.end()], True
            yield text[match.end() : behind], match["name"] != "final"
            offset = behind
        # Behind the last message there are only marks of its end.
        if offset < len(text):
            yield text[offset:], True
    elif bare := marks.BARE_CHANNELS.match(text):
        yield text[: bare.end()], True
        yield text[bare.end() :], False
    else:
        yield from _split_at_tags(text, _pattern((*thoughts, *_leading_pair(text))))


def _leading_pair(text: str) -> Pairs:
    """Return the marks around a thought that an answer begins with, if a tag's name says so and the tag is closed."""
    match = marks.LEADING_THOUGHT.match(text)
    if match is None:
        return ()
    opening = match["tag"] or match["details"]
    closing = f"{opening[0]}/{match['name']}{opening[-1]}" if match["tag"] else "</details>"
    return ((opening, closing),) if closing.lower() in text[match.end() :].lower() else ()


@lru_cache(maxsize=32)
def _pattern(thoughts: Pairs) -> re.Pattern[str]:
    pairs = [*marks.THOUGHTS, *thoughts]
    # An alternation takes the first that fits, so longer marks stand before their beginnings.
    opening = "|".join(sorted((re.escape(begin) for begin, _ in pairs), key=len, reverse=True))
    closing = "|".join(sorted((re.escape(end) for _, end in pairs), key=len, reverse=True))
    return re.compile(rf"(?:\A|(?<=\n))[ \t>]*(?P<begin>{opening})|(?P<end>{closing})", re.IGNORECASE)


def _split_at_tags(text: str, pattern: re.Pattern[str]) -> Iterator[tuple[str, bool]]:
    """Yield the parts between tags, and whether each is a thought."""
    # Templates swallow the first opening tag: a closing tag alone ends a thought that began with the answer. An opening
    # tag without its end makes all that follows a thought.
    offset, opened = 0, -1
    for match in pattern.finditer(text):
        # A tag within a closed fence is code.
        if opened < 0 and is_within(text[offset:], match.start() - offset):
            continue
        if match["begin"] and opened < 0:
            if match.start() > offset:
                yield text[offset : match.start()], False
            opened = offset = match.start()
        # A closing tag in quotes is only spoken of.
        elif match["end"] and (opened >= 0 or text[match.start() - 1 : match.start()] not in _QUOTES):
            yield text[offset : match.end()], True
            offset, opened = match.end(), -1
    if offset < len(text):
        yield text[offset:], opened >= 0


def _turn(text: str, ends: tuple[str, ...]) -> tuple[int, int]:
    """Return the begin and end of the turn. Tokens that begin it are left out, and all text from a token that ends
    it."""
    begin = 0
    while match := marks.BEGINS.match(text, begin):
        begin = match.end()
    end = _ends(ends).search(text, begin)
    behind = end.start() if end else len(text)
    # Behind `<s>`, the same mark ends a struck text in HTML.
    llama = marks.END_OF_LLAMA.search(text, begin, behind)
    if llama and "<s>" not in text[begin : llama.start()]:
        behind = llama.start()
    if turn := marks.NEXT_TURN.search(text, begin, behind):
        behind = turn.start()
    return begin, behind


@lru_cache(maxsize=32)
def _ends(ends: tuple[str, ...]) -> re.Pattern[str]:
    # In quotes it is a text of the code.
    known = sorted({*marks.ENDS, *filter(None, map(str.strip, ends))}, key=len, reverse=True)
    return re.compile(rf"(?<![\"'])(?:{'|'.join(map(re.escape, known))}|{marks.ANY_END})(?!`)")


def _unwrap(text: str) -> str:
    for tag in marks.WRAPPINGS:
        match = re.fullmatch(rf"\s*<{tag}>[ \t]*\n?(.*?)\n?[ \t]*(?:</{tag}>\s*)", text, re.DOTALL | re.IGNORECASE)
        # A text of two such elements is not wrapped in one.
        if match and f"</{tag}>" not in match[1]:
            return match[1]
    return text
