"""Source text as one or more trees: what a grammar cannot read is rewritten or cut, and what is lost is measured.

A rewriting keeps every offset: a newer construct becomes an older one of the same length, which the grammar knows.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from ci_eval.grammar.repairs import REPAIRS, Repair, Span
from ci_eval.grammar.syntax import Node, parser


class Reading(NamedTuple):
    """A text as it was read."""

    source: bytes
    """What was parsed: as long as the text, with the same line ends."""
    roots: tuple[Node, ...]
    """The tree, and trees of pieces that are blanked out in it."""
    keywords: tuple[Span, ...] = ()
    """Words of the language that stand in what was rewritten."""
    lost: int = 0
    """Bytes that no tree has: those of ERROR nodes, and one for each node that the grammar missed."""


def read(source: bytes, grammar: str) -> Reading:
    """Parse a text; where its tree has errors, keep the rewritings and pieces that lose least."""
    repairs = REPAIRS.get(grammar, ())
    keywords: list[Span] = []
    text = source
    for repair in repairs:
        if repair.always:
            text, spans = repair.apply(text)
            keywords += spans
    root = parser(grammar).parse(text).root_node
    if not root.has_error:
        return Reading(text, (root,), tuple(keywords))
    lost = lost_bytes(root)
    for repair in repairs:
        changed, spans = (text, []) if repair.always else repair.apply(text)
        if changed != text:
            other = parser(grammar).parse(changed).root_node
            rest = lost_bytes(other)
            if rest <= lost:
                text, root, lost = changed, other, rest
                keywords += spans
    return Reading(text, (root,), tuple(keywords), lost)


def lost_bytes(root: Node) -> int:
    """The bytes in outermost ERROR nodes, and one for each node that is missing."""
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
