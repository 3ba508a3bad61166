"""The reading of source text as one or more trees: unreadable text is rewritten or cut, and the loss is measured.

A rewriting keeps every offset: a newer construct becomes an older one of the same length, which the grammar knows.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from ci_eval.core.grammar.pieces import Search, alone, blank_spans
from ci_eval.core.grammar.repairs import REPAIRS, Rewriting
from ci_eval.core.grammar.repairs.repair import Rewritten, Span
from ci_eval.core.grammar.syntax import Node, leaves, parser

LITTLE = 0.002
"""The share of lost bytes up to which it is not worth while to read pieces apart."""

_APART_BYTES = 4_000_000
"""The length of a text times its unreadable pieces below which each of them is parsed for itself."""


class Reading(NamedTuple):
    source: bytes
    """The text that was parsed, as long as the original."""
    roots: tuple[Node, ...]
    """The tree of the text, and trees of parts that are blank in it."""
    keywords: tuple[Span, ...] = ()
    """The words of the language that stand in what was rewritten, and have no node."""
    types: tuple[Span, ...] = ()
    """The names of types that stand there."""
    lost: int = 0
    """The number of bytes that no tree has: those of ERROR nodes, and one for each node that the grammar missed."""
    left_out: int = 0
    """The number of words in branches that were left out."""
    trouble: str = ""
    """The reason why a rewriting was dropped."""


def read(source: bytes, grammar: str) -> Reading:
    """Parse a text. If its tree has errors, each rewriting is kept unless it loses more bytes."""
    repairs = REPAIRS.get(grammar, ())
    rewritten = Rewritten(source)
    for repair in repairs:
        if repair.always:
            rewritten = _chain(rewritten, repair)
    best = _parse(rewritten, grammar)
    for repair in repairs:
        if not best.lost:
            break
        # Rewritings add up: each is tried on top of those that were kept.
        extended = _chain(rewritten, repair)
        best = best._replace(trouble=best.trouble or extended.trouble)
        if not repair.always and extended.text != rewritten.text:
            candidate = _parse(extended, grammar)
            if candidate.lost <= best.lost:
                rewritten, best = extended, candidate
    return _read_in_pieces(source, rewritten, best, grammar) if best.lost > len(source) * LITTLE else best


def _read_in_pieces(source: bytes, rewritten: Rewritten, whole: Reading, grammar: str) -> Reading:
    """Read pieces apart, if that loses less than reading all as one."""
    text = rewritten.text
    head = _HEADS.get(grammar, b"")
    head = head if text.startswith(head) else b""
    spans = Search(text, source, head, lambda part: lost_bytes(parser(grammar).parse(part).root_node)).unreadable()
    if not spans:
        return whole
    # A tree for each piece if that is cheap, else one tree of all pieces.
    apart = len(text) * len(spans) < _APART_BYTES
    parts = tuple(alone(text, group, head) for group in ([[span] for span in spans] if apart else [spans]))
    candidate = _parse(rewritten._replace(text=blank_spans(text, spans), layers=rewritten.layers + parts), grammar)
    return candidate if candidate.lost < whole.lost else whole


_HEADS = {"php": b"<?php"}
"""A table: grammar → what a file must begin with."""


def _chain(first: Rewritten, repair: Rewriting) -> Rewritten:
    """Return a rewritten text with one more rewriting; one that fails is dropped."""
    try:
        second = repair.apply(first.text)
        if len(second.text) != len(first.text):
            raise ValueError("a rewriting must keep the length")
    except Exception as error:  # noqa: BLE001  no rewriting may cost a file
        return first._replace(trouble=first.trouble or repr(error))
    return Rewritten(
        second.text,
        first.keywords + second.keywords,
        first.types + second.types,
        first.layers + second.layers,
        first.lost + second.lost,
        first.trouble,
    )


def _parse(rewritten: Rewritten, grammar: str) -> Reading:
    text = rewritten.text
    roots = tuple(parser(grammar).parse(part).root_node for part in (text, *rewritten.layers))
    lost = rewritten.lost + sum(lost_bytes(root) for root in roots)
    if rewritten.layers:
        text = _overlay(text, rewritten.layers)
    return Reading(text, roots, rewritten.keywords, rewritten.types, lost, rewritten.lost, rewritten.trouble)


def _overlay(text: bytes, layers: tuple[bytes, ...]) -> bytes:
    """Return the text with what stands in the layers, so that one text has the names of all trees. The first layer
    counts."""
    out = bytearray(text)
    # The last one written wins.
    for layer in reversed(layers):
        for part in re.finditer(rb"\S+", layer):
            out[part.start() : part.end()] = part[0]
    return bytes(out)


def lost_bytes(root: Node) -> int:
    """Count the bytes in outermost ERROR nodes, and one for each node that is missing."""
    if not root.has_error:
        return 0
    return sum(max(len((node.text or b"").strip()), 1) for node in errors(root))


def errors(root: Node) -> Iterator[Node]:
    """Yield the outermost ERROR nodes, and those that are missing."""
    stack = [root]
    while stack:
        node = stack.pop()
        if node.type == "ERROR" or node.is_missing:
            yield node
        elif node.has_error:
            stack += node.children


# Also of a text without a comment or literal, these parts may hold anything.
_NO_WORDS = re.compile(r"comment|string|char|content|fragment|escape|heredoc|regex|literal|_text$")


def share_lost(reading: Reading) -> float:
    """Return the share of a file's words (names and keywords) that no tree has, 0 to 1."""
    if not reading.lost:
        return 0.0
    lost = reading.left_out + sum(_words(node) for root in reading.roots for node in errors(root))
    return lost / max(reading.left_out + sum(map(_words, reading.roots)), 1)


def _words(root: Node) -> int:
    return sum(
        (leaf.text or b"").decode(errors="replace")[:1].isidentifier() and not _NO_WORDS.search(leaf.type)
        for leaf in leaves(root)
    )
