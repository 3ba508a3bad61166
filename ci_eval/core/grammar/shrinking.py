"""Smaller versions of a source text, made by cutting parts of its syntax tree."""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple, TypeVar

import msgspec

from ci_eval.core.grammar.document import code_points, line_ranges
from ci_eval.core.grammar.parsing import lost_bytes
from ci_eval.core.grammar.syntax import Node, parse_tree

T = TypeVar("T")
_BRACKETS = frozenset("()[]{}<>")
INSERTED = -1
"""The origin of a character that is not in the original text."""


class Cut(NamedTuple):
    begin: int
    end: int
    filler: str = ""


class Excerpt(msgspec.Struct, frozen=True):
    """A text after cuts. `origins`: the offset of each character in the original text, or INSERTED."""

    text: str
    origins: array[int]

    @classmethod
    def whole(cls, text: str) -> Excerpt:
        return cls(text, array("q", range(len(text))))

    def cut(self, cuts: Sequence[Cut]) -> Excerpt:
        """Return the excerpt with each range replaced by its filler. The ranges may overlap."""
        text, origins, last = "", array("q"), 0
        for begin, end, filler in [*sorted(cuts), Cut(len(self.text), len(self.text))]:
            if end >= last:
                first = max(begin, last)
                text += self.text[last:first] + filler
                origins += self.origins[last:first] + array("q", [INSERTED] * len(filler))
                last = end
        return Excerpt(text, origins)

    def find(self, origin: int) -> int | None:
        """Return the excerpt's offset of the character at `origin` in the original text; None if it was cut out."""
        return self.origins.index(origin) if origin in self.origins else None

    def find_from(self, origin: int) -> int:
        kept = [(was, at) for at, was in enumerate(self.origins) if was != INSERTED]
        position = bisect_left(kept, (origin, 0))
        return kept[position][1] if position < len(kept) else len(self.text)


def minimise(units: Sequence[T], holds: Callable[[list[T]], bool]) -> list[T]:
    """Return a small selection of the units that keeps `holds` true, by dropping ever smaller chunks of units.
    (Zeller and Hildebrandt, Simplifying and Isolating Failure-Inducing Input, 2002)"""
    kept, size = [*units], len(units)
    while size:
        end = len(kept)
        while end > 0:
            fewer = kept[: max(end - size, 0)] + kept[end:]
            if holds(fewer):
                kept = fewer
            end -= size
        size //= 2
    return kept


BEFORE_MEMBERS = frozenset({".", "?.", "->", "::"})


class Shrinker:
    """The syntax tree of an excerpt, and its possible cuts. `token`: the range that cuts must keep, if any."""

    def __init__(self, excerpt: Excerpt, grammar: str, token: tuple[int, int] | None) -> None:
        self.excerpt = excerpt
        self._token, self._text = token, excerpt.text
        self._filler = "..." if grammar == "python" else "0"
        data = excerpt.text.encode()
        self._offsets = code_points(data)
        self._root = parse_tree(data, grammar).root_node
        self.lost = lost_bytes(self._root)

    def _range(self, node: Node) -> tuple[int, int]:
        return self._offsets[node.start_byte], self._offsets[node.end_byte]

    def _lines(self, node: Node) -> Cut | None:
        begin, end = self._range(node)
        # The node's end may already include the line end.
        first, last = self._text.rfind("\n", 0, begin) + 1, self._text.find("\n", max(end - 1, begin))
        last = len(self._text) if last < 0 else last
        after = self._text[end:last].strip(" \t;,")
        alone = not self._text[first:begin].strip() and (not after or after.startswith(("#", "//")))
        return Cut(first, min(last + 1, len(self._text))) if alone and end > begin else None

    def statements(self, depth: int) -> list[list[list[Cut]]]:
        level = [(node, self._lines(node)) for node in self._level(depth, lambda node: self._lines(node) is not None)]
        return [[*([[lines]] if lines else []), [Cut(*self._range(node), self._filler)]] for node, lines in level]

    def nodes(self, depth: int) -> list[list[list[Cut]]]:
        """Return the ways to cut out each node at this nesting depth that shares a line with other code."""
        return [self._ways_of_node(node) for node in self._level(depth, lambda node: self._lines(node) is None)]

    def _level(self, depth: int, picks: Callable[[Node], bool]) -> list[Node]:
        level = list(self._outermost(self._root, picks))
        for _ in range(depth):
            level = [below for node in level for below in self._outermost(node, picks)]
        return level

    def _outermost(self, node: Node, picks: Callable[[Node], bool]) -> Iterator[Node]:
        for child in node.named_children:
            begin, end = self._range(child)
            holds_token = self._token is not None and begin < self._token[1] and end > self._token[0]
            if not holds_token and picks(child):
                yield child
            else:
                yield from self._outermost(child, picks)

    def _ways_of_node(self, node: Node) -> list[list[Cut]]:
        begin, end = self._range(node)
        ways = [Cut(self._skip_spaces(begin), end)]
        # A separator is cut with its node: a comma, or the sign before a type or a default.
        for sibling in (node.next_sibling, node.prev_sibling):
            if sibling is not None and not sibling.is_named and sibling.type not in _BRACKETS:
                first, last = self._range(sibling)
                last += len(self._text[last:]) - len(self._text[last:].lstrip(" "))
                ways.insert(0, Cut(self._skip_spaces(first), end) if first < begin else Cut(begin, last))
        # A node without children, such as a name, is not replaced by a filler: the filler may be as long as the name.
        return [[way] for way in ways] + ([[Cut(begin, end, self._filler)]] if node.named_children else [])

    def _skip_spaces(self, offset: int) -> int:
        """Return the offset before the spaces that precede `offset`; `offset` itself if they indent the line."""
        before = self._text[self._text.rfind("\n", 0, offset) + 1 : offset]
        return offset - len(before) + len(before.rstrip(" ")) if before.strip() else offset

    def unwrapped(self) -> Iterator[list[Cut]]:
        """Yield the cuts that replace each statement around the token, such as an `if` or a class, by the inner
        statement that contains the token. The outermost statement comes first."""
        around = [node for node in self._ancestors() if self._lines(node)]
        for inner, outer in reversed([*pairwise(around)]):
            begin, end = self._range(inner)
            first, last = self._range(outer)
            columns = [at - self._text.rfind("\n", 0, at) - 1 for at in (first, begin)]
            cuts, at = [Cut(first, begin), Cut(end, last)], self._text.find("\n", begin, end)
            while at >= 0:
                indent = self._text[at + 1 : at + 1 + columns[1] - columns[0]]
                cuts.append(Cut(at + 1, at + 1 + len(indent) - len(indent.lstrip())))
                at = self._text.find("\n", at + 1, end)
            yield cuts

    def _ancestors(self) -> Iterator[Node]:
        assert self._token
        before = [len(self._text[:offset].encode()) for offset in self._token]
        node = self._root.descendant_for_byte_range(*before)
        while node is not None and node.parent is not None:
            yield node
            node = node.parent

    def _receiver(self) -> Node | None:
        """Return the node of the object that has the token as a member, such as `a` for the token `b` in `a.b`."""
        sign = token.prev_sibling if (token := next(self._ancestors(), None)) else None
        return sign.prev_sibling if sign is not None and sign.type in BEFORE_MEMBERS else None

    def receiver(self) -> int | None:
        """Return the offset of the name of the token's receiver, such as `b` in `a.b(c)[0].token`."""
        node = self._receiver()
        while node is not None and node.children:
            signs = [child for child in node.children if child.type in BEFORE_MEMBERS]
            node = signs[-1].next_sibling if signs else node.children[0]
        return None if node is None else self._range(node)[0]

    def role(self) -> tuple[str, ...]:
        receiver = self._receiver()
        types = [] if receiver is None else [receiver.type]
        for node in self._ancestors():
            types.append(node.type)
            if node.child_count and self._lines(node):
                break
        return tuple(types)

    def blank_lines(self) -> list[Cut]:
        return [Cut(begin, end) for begin, end in line_ranges(self._text) if not self._text[begin:end].strip()]
