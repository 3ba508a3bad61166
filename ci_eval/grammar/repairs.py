"""Rewritings of what a grammar cannot read into something as long that it can."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import NamedTuple

Span = tuple[int, int]
"""Begin and end in bytes."""
Match = re.Match[bytes]


class Repair(NamedTuple):
    """A pattern, and what is put in place of what it matches. Groups named `k…` are keywords of the language."""

    pattern: re.Pattern[bytes]
    replacement: Callable[[Match], bytes]
    always: bool = False
    """Whether the grammar misreads this without noticing; else it is tried where there are errors."""

    def apply(self, source: bytes) -> tuple[bytes, list[Span]]:
        """The text rewritten, and where keywords were in what was replaced."""
        keywords: list[Span] = []

        def replaced(match: Match) -> bytes:
            new = self.replacement(match)
            old = match[0]
            if len(new) != len(old):
                raise ValueError(f"a rewriting must keep the length: {old!r} became {new!r}")
            if new != old:
                keywords.extend(match.span(k) for k in match.re.groupindex if k[0] == "k" and match[k])
            return new

        return self.pattern.sub(replaced, source), keywords


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


PYTHON = (Repair(re.compile(rb"\b(?:class|def|type)\s+\w+\s*(?P<list>" + _BRACKETS + rb")"), _defaults),)

REPAIRS: Mapping[str, tuple[Repair, ...]] = {
    "python": PYTHON,
}
