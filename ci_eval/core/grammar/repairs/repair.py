"""A rewriting of what a grammar cannot read into something as long that it can."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NamedTuple

Span = tuple[int, int]
"""The begin and the end of a span, in bytes."""
Match = re.Match[bytes]


class Rewritten(NamedTuple):
    """A text of which parts were rewritten, all as long as they were."""

    text: bytes
    keywords: tuple[Span, ...] = ()
    """The words of the language that stood in what was replaced."""
    types: tuple[Span, ...] = ()
    """The names of types that stood in what was replaced."""
    layers: tuple[bytes, ...] = ()
    """The further texts, each as long, that are blank but for parts that are blank in `text`."""
    lost: int = 0
    """The number of words that are in none of the texts."""
    trouble: str = ""
    """The reason why a rewriting was dropped."""


class Repair(NamedTuple):
    """A pattern outside of comments and texts, and as many bytes to put in place of its matches.

    Groups named `k`, `k1` … are keywords of the language, those named `t` types.
    """

    pattern: re.Pattern[bytes]
    replacement: Callable[[Match], bytes]
    always: bool = False
    """True if the grammar misreads this without noticing; else it is tried only if there are errors."""
    trigger: re.Pattern[bytes] | None = None
    """A pattern that every text with a match contains; to look for it alone takes less time."""

    def apply(self, source: bytes) -> Rewritten:
        if self.trigger and not self.trigger.search(source):
            return Rewritten(source)
        keywords: list[Span] = []
        types: list[Span] = []
        groups = [
            (name, keywords if name[0] == "k" else types)
            for name in self.pattern.groupindex
            if re.fullmatch(r"[kt]\d?", name)
        ]

        skips = "skip" in self.pattern.groupindex

        def rewrite_match(match: Match) -> bytes:
            old = match[0]
            if skips and match["skip"] is not None:
                return old
            new = self.replacement(match)
            # Of another length, it would move all that follows: the text stays, and counts as lost if it is.
            if len(new) != len(old):
                return old
            if new != old:
                for name, spans in groups:
                    if match[name]:
                        spans.append(match.span(name))
            return new

        return Rewritten(self.pattern.sub(rewrite_match, source), tuple(keywords), tuple(types))


C_LIKE = (
    rb"//[^\n]*|/\*(?:[\s\S]*?\*/|[\s\S]*)|\"\"\"(?:[\s\S]*?\"\"\"|[\s\S]*)|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])'"
)
"""A pattern of comments and texts of most languages."""
PYTHON_LIKE = (
    rb"\#[^\n]*|\"\"\"(?:[\s\S]*?\"\"\"|[\s\S]*)|'''(?:[\s\S]*?'''|[\s\S]*)|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'"
)


# Limited, since a hostile file may have opening brackets only, on which the pattern would take long.
ROUND = rb"(?:[^()]|\((?:[^()]|\([^()]{0,500}\)){0,500}\)){0,1000}"
"""A pattern of what may be in round brackets, with two levels of others inside."""


def outside(pattern: bytes, skip: bytes = C_LIKE) -> re.Pattern[bytes]:
    """Return the pattern outside of comments and texts, which match as the group `skip`."""
    return re.compile(rb"(?P<skip>" + skip + rb")|" + pattern, re.MULTILINE)


def spaces(match: Match) -> bytes:
    """Return spaces in place of all but line ends."""
    return re.sub(rb"[^\n]", b" ", match[0])


def replace_groups(match: Match, **groups: bytes) -> bytes:
    """Return the match with other bytes in place of some of its groups, filled up by spaces."""
    out = bytearray(match[0])
    for name, text in groups.items():
        if match[name] is not None:
            begin, end = (at - match.start() for at in match.span(name))
            out[begin:end] = text.ljust(end - begin)
    return bytes(out)
