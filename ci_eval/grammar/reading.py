"""Source text as one or more trees: what a grammar cannot read is rewritten or cut, and what is lost is measured.

A rewriting keeps every offset: a newer construct becomes an older one of the same length, which the grammar knows.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from ci_eval.grammar.pieces import LONGEST, MOST, alone, blanked, unreadable
from ci_eval.grammar.repairs import REPAIRS
from ci_eval.grammar.repairs.repair import Rewritten, Span
from ci_eval.grammar.syntax import Node, parser

LITTLE = 0.002
"""Up to this share of lost bytes it is not worth while to read pieces apart."""


class Reading(NamedTuple):
    """A text as it was read."""

    source: bytes
    """What was parsed: as long as the text."""
    roots: tuple[Node, ...]
    """The tree of the text, and trees of parts that are blank in it."""
    keywords: tuple[Span, ...] = ()
    """Words of the language that stand in what was rewritten, and have no node."""
    types: tuple[Span, ...] = ()
    """Names of types that stand there."""
    lost: int = 0
    """Bytes that no tree has: those of ERROR nodes, and one for each node that the grammar missed."""


def read(source: bytes, grammar: str) -> Reading:
    """Parse a text; where its tree has errors, keep the rewritings that lose least."""
    repairs = REPAIRS.get(grammar, ())
    made = Rewritten(source)
    for repair in repairs:
        if repair.always:
            made = _then(made, repair.apply(made.text))
    best = _parsed(made, grammar)
    for repair in repairs:
        if not best.lost:
            break
        more = _then(made, repair.apply(made.text))
        if not repair.always and more.text != made.text:
            other = _parsed(more, grammar)
            if other.lost <= best.lost:
                made, best = more, other
    return _in_pieces(made, best, grammar) if best.lost > len(source) * LITTLE else best


def _in_pieces(made: Rewritten, whole: Reading, grammar: str) -> Reading:
    """Read pieces apart, if that loses less than reading all as one."""
    text = made.text
    head = _HEADS.get(grammar, b"")
    head = head if text.startswith(head) else b""
    spans = unreadable(text, head, lambda part: lost_bytes(parser(grammar).parse(part).root_node))
    if not spans or len(spans) > MOST:
        return whole
    apart = len(text) * len(spans) < LONGEST
    parts = tuple(alone(text, group, head) for group in ([[span] for span in spans] if apart else [spans]))
    other = _parsed(made._replace(text=blanked(text, spans), layers=made.layers + parts), grammar)
    return other if other.lost < whole.lost else whole


_HEADS = {"php": b"<?php"}
"""Grammar → what a file must begin with."""


def _then(first: Rewritten, second: Rewritten) -> Rewritten:
    return Rewritten(
        second.text,
        first.keywords + second.keywords,
        first.types + second.types,
        first.layers + second.layers,
        first.lost + second.lost,
    )


def _parsed(made: Rewritten, grammar: str) -> Reading:
    text = made.text
    roots = tuple(parser(grammar).parse(part).root_node for part in (text, *made.layers))
    if made.layers:
        text = _overlaid(text, made.layers)
    return Reading(text, roots, made.keywords, made.types, made.lost + sum(lost_bytes(root) for root in roots))


def _overlaid(text: bytes, layers: tuple[bytes, ...]) -> bytes:
    """The text with what stands in the layers, so that one text has the names of all trees; the first layer counts."""
    out = bytearray(text)
    for layer in reversed(layers):
        for part in re.finditer(rb"\S+", layer):
            out[part.start() : part.end()] = part[0]
    return bytes(out)


def lost_bytes(root: Node) -> int:
    """The bytes in outermost ERROR nodes, and one for each node that is missing."""
    if not root.has_error:
        return 0
    return sum(max(node.end_byte - node.start_byte, 1) for node in errors(root))


def errors(root: Node) -> Iterator[Node]:
    """The outermost ERROR nodes, and those that are missing; looks only where there are some."""
    stack = [root]
    while stack:
        node = stack.pop()
        if node.type == "ERROR" or node.is_missing:
            yield node
        elif node.has_error:
            stack += node.children
