"""Rewritings of what a grammar cannot read into something as long that it can."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import NamedTuple

Span = tuple[int, int]
"""Begin and end in bytes."""
Match = re.Match[bytes]


class Repair(NamedTuple):
    """What a pattern matches outside of comments and texts, and what is put in its place: as many bytes.

    Groups named `k…` are keywords of the language.
    """

    pattern: re.Pattern[bytes]
    replacement: Callable[[Match], bytes]
    always: bool = False
    """Whether the grammar misreads this without noticing; else it is tried where there are errors."""

    def apply(self, source: bytes) -> tuple[bytes, list[Span]]:
        """The text rewritten, and where keywords were in what was replaced."""
        keywords: list[Span] = []
        groups = [name for name in self.pattern.groupindex if name[0] == "k"]

        def replaced(match: Match) -> bytes:
            old = match[0]
            if match["skip"] is not None:
                return old
            new = self.replacement(match)
            if len(new) != len(old):
                raise ValueError(f"a rewriting must keep the length: {old!r} became {new!r}")
            if new != old:
                keywords.extend(match.span(name) for name in groups if match[name])
            return new

        return self.pattern.sub(replaced, source), keywords


_C = (
    rb"//[^\n]*|/\*[\s\S]*?\*/|\"\"\"[\s\S]*?\"\"\"|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])'"
)
"""Comments and texts of most languages."""
_PYTHON = rb"\#[^\n]*|\"\"\"[\s\S]*?\"\"\"|'''[\s\S]*?'''|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'"


def _outside(pattern: bytes, skip: bytes = _C) -> re.Pattern[bytes]:
    """The pattern where neither a comment nor a text is."""
    return re.compile(rb"(?P<skip>" + skip + rb")|" + pattern, re.MULTILINE)


def _spaces(match: Match) -> bytes:
    """Spaces in place of all but line ends."""
    return re.sub(rb"[^\n]", b" ", match[0])


def _with(match: Match, **groups: bytes) -> bytes:
    """The match with other bytes in place of some of its groups, filled up by spaces."""
    out = bytearray(match[0])
    for name, text in groups.items():
        if match[name] is not None:
            begin, end = (at - match.start() for at in match.span(name))
            out[begin:end] = text.ljust(end - begin)
    return bytes(out)


_BRACKETS = rb"\[(?:[^\[\]]|\[(?:[^\[\]]|\[[^\[\]]*\])*\])*\]"
"""Square brackets with two levels of others inside."""


def _defaults(match: Match) -> bytes:
    """`[T = D]` as `[T : D]`, and `[T: B = D]` as `[T: B | D]`."""
    out, depth, bound = bytearray(match[0]), 0, False
    for at in range(match.start("list") - match.start(), len(out)):
        byte = out[at : at + 1]
        depth += (byte in b"[({") - (byte in b"])}")
        if depth == 1 and byte == b"=":
            out[at : at + 1] = b"|" if bound else b":"
        bound = depth > 0 and byte != b"," and (bound or byte == b":") if depth == 1 else bound
    return bytes(out)


PYTHON = (Repair(_outside(rb"\b(?:class|def|type)\s+\w+\s*(?P<list>" + _BRACKETS + rb")", _PYTHON), _defaults),)


def _dollars(match: Match) -> bytes:
    """`$$"a $b $$c"`, in which `$b` is text, as a text in which one `$` is enough."""
    before, text = match["dollars"], match["text"]
    inner = re.sub(rb"\$+", lambda run: run[0].replace(b"$", b" ")[:-1] + b"$" if len(run[0]) >= len(before) else
                   b" " * len(run[0]), text)
    return b" " * len(before) + inner


def _context(match: Match) -> bytes:
    """`context(a: A)` as a function's head, and `context(A)` as a value's type."""
    named = re.match(rb"\s*\w+\s*:", match["inner"])
    return b"fun con(" + match["inner"] + b")" if named else b"val c:x<" + match["inner"] + b">"


_ROUND = rb"(?:[^()]|\((?:[^()]|\([^()]*\))*\))*"
"""What may be in round brackets, with two levels of others inside."""

KOTLIN = (
    Repair(re.compile(rb"(?P<skip>/(?:/[^\n]*|\*[\s\S]*?\*/))|(?P<dollars>\$\$+)(?P<text>\"\"\"[\s\S]*?\"\"\"+|"
                      rb"\"(?:\\.|[^\"\\\n])*\")"), _dollars),
    Repair(_outside(rb"^[ \t]*(?P<k>context)\((?P<inner>" + _ROUND + rb")\)(?=\s*(?:@|\w))"), _context),
    Repair(_outside(rb"(?:^|[{;])[ \t]*!?(?:is|in)\b[^\n{}]*?[ \t](?P<k>if)\b(?=[^\n]*?->)"), lambda m: _with(m, k=b",")),
    Repair(_outside(rb"(?:^|[{;])[ \t]*(?P<k1>else)[ \t]+(?P<k2>if)\b(?=[^\n{]*?->)"), lambda m: _with(m, k1=b"", k2=b"")),
    Repair(_outside(rb"\b(?P<k>value)(?=\s+class\b)"), lambda m: b"inner"),
    Repair(_outside(rb"\b(?P<k>fun)(?=\s+interface\b)"), _spaces),
    Repair(_outside(rb"[ \t](?=\})"), lambda m: b"\n"),
)

_GIVEN = rb"\bgiven\b[^\n={}]*?"
SCALA = (
    # A given with a body in brackets, or behind a colon, as one that is equal to a block.
    Repair(_outside(_GIVEN + rb"(?:\b(?P<k>with)\s*|(?P<s>[ \t]))(?=\{)"), lambda m: _with(m, k=b"=", s=b"=")),
    Repair(_outside(_GIVEN + rb"(?P<colon>:)[ \t]*$"), lambda m: _with(m, colon=b"=")),
)

REPAIRS: Mapping[str, tuple[Repair, ...]] = {
    "kotlin": KOTLIN,
    "scala": SCALA,
    "python": PYTHON,
}
