"""What of a file a person who types it from top to bottom has not typed yet at a given place."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from ci_eval.contracts import Shape
from ci_eval.support.document import code_points
from ci_eval.support.syntax import Node, parser


class Remainder(NamedTuple):
    """What follows a token."""

    end: int
    """Offset (code points) to which the text behind the token is missing."""
    tail: str
    """What closes, in its place, everything that is open before the token: innermost first."""


def remainders(text: str, grammar: str, shape: Shape, places: Sequence[int]) -> Iterator[Remainder]:
    """For each place, which are offsets (code points) of the ends of tokens in order, what is missing behind it.

    In a function, that is the rest of the outermost function; elsewhere the rest of the declaration or statement.
    """
    source = text.encode()
    points = code_points(source)
    way = _Way(source, parser(grammar).parse(source).root_node, shape)
    for place in places:
        end, tail = way.after(bisect_left(points, place) if points else place)
        yield Remainder(points[end] if points else end, tail)


@dataclass(frozen=True, kw_only=True)
class _Level:
    """A node that the way from the root to the present place leads through."""

    children: list[Node]
    begins: list[int]
    kind: str
    end: int
    closers: list[tuple[int, str, bool]]
    """Offset of a child (bytes), what is put there early, and whether that is a stand-in."""
    missing_to: int | None
    """Byte offset to which nothing is there behind a place below this node."""
    top: int
    """Number of levels above the function or statement that is being typed."""
    inside: bool
    """Whether this is inside a function."""


class _Way:
    """The way from the root of a syntax tree to one place after the other."""

    def __init__(self, source: bytes, root: Node, shape: Shape) -> None:
        self._source = source
        self._shape = shape
        self._levels = [self._level(root, missing_to=None, top=0, inside=False)]

    def after(self, place: int) -> tuple[int, str]:
        """For a place (byte offset) behind a token: the end of what is missing there, and what closes the rest."""
        levels, last = self._levels, place - 1
        while len(levels) > 1 and levels[-1].end <= last:
            levels.pop()
        while True:
            level = levels[-1]
            index = bisect_right(level.begins, last) - 1
            if index < 0 or level.children[index].end_byte <= last or not level.children[index].child_count:
                break
            levels.append(self._below(level, level.children[index]))
        missing_to = levels[-1].missing_to
        if missing_to is None or missing_to <= place:
            return place, ""
        return missing_to, "".join(self._tail(last))

    def _below(self, level: _Level, child: Node) -> _Level:
        if not level.inside:
            depth = len(self._levels)
            if among(self._shape.bodies, level.kind, child.type):
                # The bracket at its end stays where it is.
                return self._level(child, missing_to=self._inner_end(child), top=depth + 1, inside=True)
            if among(self._shape.lists, self._levels[-2].kind if depth > 1 else "", level.kind):
                return self._level(child, missing_to=child.end_byte, top=depth, inside=False)
        return self._level(child, missing_to=level.missing_to, top=level.top, inside=level.inside)

    def _level(self, node: Node, *, missing_to: int | None, top: int, inside: bool) -> _Level:
        children = node.children
        return _Level(
            children=children,
            begins=[child.start_byte for child in children],
            kind=node.type,
            end=node.end_byte,
            closers=list(self._closers(node.type, children)),
            missing_to=missing_to,
            top=top,
            inside=inside,
        )

    def _closers(self, parent: str, children: Sequence[Node]) -> Iterator[tuple[int, str, bool]]:
        before = 0
        for child in children:
            begin, end = child.start_byte, child.end_byte
            if text := self._shape.stand_ins.get(child.type):
                yield begin, text, True
            elif among(self._shape.closers, parent, child.type):
                blank = self._source[before:begin].decode()
                indent = "\n" + blank.rpartition("\n")[2] if "\n" in blank else ""
                yield begin, indent + self._source[begin:end].decode(), False
            before = end

    def _tail(self, last: int) -> Iterator[str]:
        for level in reversed(self._levels[self._levels[-1].top :]):
            if level.children and level.children[0].end_byte > last and not level.children[0].child_count:
                # Its first word is being typed: nobody knows yet what will follow.
                continue
            stood_in = False
            for begin, text, stand_in in level.closers:
                if begin > last and not (stand_in and stood_in):
                    stood_in |= stand_in
                    yield text

    def _inner_end(self, body: Node) -> int:
        children = body.children
        if len(children) > 1 and among(self._shape.closers, body.type, children[-1].type):
            return children[-2].end_byte
        return body.end_byte


def among(types: frozenset[str], parent: str, child: str) -> bool:
    """Whether a node of type `child`, below one of type `parent`, is meant: alone, or as "PARENT CHILD"."""
    return child in types or f"{parent} {child}" in types
