"""The text that does not exist yet while a user writes a file: the remainder after an offset, or parts of the file."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from operator import attrgetter
from typing import NamedTuple

import msgspec

from ci_eval.core.contracts import Shape
from ci_eval.core.grammar.document import code_points, line_ranges
from ci_eval.core.grammar.syntax import Node, parse_tree

START = attrgetter("start_byte")
OPENERS = {")": "(", "]": "[", "}": "{"}


class Remainder(NamedTuple):
    """The text that is missing while a token is typed: from the token's end to `end`. `tail` replaces that text."""

    end: int
    """The offset (in code points) of the end of the missing text."""
    tail: str
    """The text that closes everything open before the token, innermost first, such as `)` and then `}`."""


def remainders(text: str, grammar: str, shape: Shape, places: Sequence[int]) -> Iterator[Remainder]:
    """Yield the remainder after each of `places`, which are the sorted ends of tokens (code points). The rest of the
    outermost function is missing or, outside functions, the rest of the declaration or statement."""
    source = text.encode()
    points = code_points(source)
    path = _TreePath(source, parse_tree(source, grammar).root_node, shape)
    for place in places:
        end, tail = path.after(bisect_left(points, place))
        yield Remainder(points[end], tail)


class _Closer(NamedTuple):
    """A text that is there already after the typing position: a closing bracket, or a stand-in (see Shape)."""

    begin: int
    """The byte offset of the node that the text replaces."""
    text: str
    stand_in: bool
    needs: int
    """The closer exists only if the code at this byte offset is typed; -1 if it always exists. This code is the opening
    bracket or, for a stand-in in the innermost node, the last named node before the stand-in."""


class _Level(msgspec.Struct, frozen=True, kw_only=True):
    node: Node
    children: list[Node]
    closers: list[_Closer]
    missing_to: int | None
    """The byte offset where the missing text after a place inside this node ends; None if nothing is missing."""
    top: int
    """The index on the path (0 = root) of the outermost node whose closers belong to the tail. This node is the
    statement being typed or, inside a function, the child of the function's body."""
    inside: bool


class _TreePath:
    def __init__(self, source: bytes, root: Node, shape: Shape) -> None:
        self._source = source
        self._shape = shape
        self._levels = [self._level(root, missing_to=None, top=0, inside=False)]

    def after(self, place: int) -> tuple[int, str]:
        """Return the end of the missing text and the tail that replaces it. `place`: the end of a token, in bytes."""
        # A place is right after a token, so the byte before it identifies the node.
        levels, last = self._levels, place - 1
        # Places only move forward, so the path is kept up to the first node that ends before this place.
        while len(levels) > 1 and levels[-1].node.end_byte <= last:
            levels.pop()
        while True:
            level = levels[-1]
            index = bisect_right(level.children, last, key=START) - 1
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
            if among(self._shape.bodies, level.node.type, child.type):
                end, children = child.end_byte, child.children
                # The body's closing bracket stays. Blank nodes do not count: in Go, line ends are nodes.
                if len(children) > 1 and among(self._shape.closers, child.type, children[-1].type):
                    ends = [of.end_byte for of in children[:-1] if self._source[of.start_byte : of.end_byte].strip()]
                    end = ends[-1]
                return self._level(child, missing_to=end, top=depth + 1, inside=True)
            if among(self._shape.lists, self._levels[-2].node.type if depth > 1 else "", level.node.type):
                # Some grammars count the line end as part of a statement.
                end = child.start_byte + len(self._source[child.start_byte : child.end_byte].rstrip())
                return self._level(child, missing_to=end, top=depth, inside=False)
        return self._level(child, missing_to=level.missing_to, top=level.top, inside=level.inside)

    def _level(self, node: Node, *, missing_to: int | None, top: int, inside: bool) -> _Level:
        children = node.children
        return _Level(
            node=node,
            children=children,
            closers=list(self._closers(node)),
            missing_to=missing_to,
            top=top,
            inside=inside,
        )

    def _closers(self, node: Node) -> Iterator[_Closer]:
        before, last_named, parent = 0, -1, node.type
        opened: dict[str, list[int]] = {}
        for child in node.children:
            begin, end, kind = child.start_byte, child.end_byte, child.type
            stand_in = self._shape.stand_ins.get(f"{parent} {kind}") or self._shape.stand_ins.get(kind)
            if stand_in:
                yield _Closer(begin, stand_in, True, last_named)
            elif among(self._shape.closers, parent, kind):
                blank = self._source[before:begin].decode()
                # A closing bracket that is on a new line stays on a new line.
                indent = "\n" + blank.rpartition("\n")[2] if "\n" in blank else ""
                openers = opened.get(OPENERS.get(kind, kind))
                text = indent + self._source[begin:end].decode()
                yield _Closer(begin, text, False, openers.pop() if openers else -1)
            if child.child_count == 0:
                opened.setdefault(kind, []).append(begin)
            if child.is_named:
                last_named = begin
            before = end
        if parent in self._shape.quoted:
            begin = node.start_byte
            # Raw strings of Kotlin and Scala end with three quotes.
            quote = self._source[begin : begin + 3]
            quote = quote if quote[:1] * 3 == quote else quote[:1]
            yield _Closer(node.end_byte - len(quote), quote.decode(), False, -1)

    def _tail(self, last: int) -> Iterator[str]:
        levels = self._levels
        inner = levels[-1]
        index = bisect_right(inner.children, last, key=START) - 1
        word = inner.children[index].start_byte if index >= 0 and inner.children[index].end_byte > last else last
        for level in reversed(levels[inner.top :]):
            if level.children and level.children[0].start_byte >= word:
                # While the first word of a node is typed, only a `;` at the end of the node exists.
                ends = level.closers[-1:] if level.inside else []
                yield from (closer.text for closer in ends if closer.begin > last and closer.text.strip() == ";")
                continue
            stood_in = False
            for closer in level.closers:
                if closer.begin <= last or (closer.stand_in and stood_in):
                    continue
                if closer.needs > last and (not closer.stand_in or level is inner):
                    continue
                stood_in |= closer.stand_in
                yield closer.text


def among(types: frozenset[str], parent: str, child: str) -> bool:
    """Return whether `types` has `child`, or "PARENT CHILD" for these two types."""
    return child in types or f"{parent} {child}" in types


Part = tuple[int, int]


def lines(text: str) -> list[Part]:
    return [(begin, end) for begin, end in line_ranges(text) if text[begin:end].strip()]


def statements_on_a_line(text: str, grammar: str) -> list[Part]:
    """Return the lines that consist of a single node. The file still parses if any of them are removed."""
    source = text.encode()
    parts = set()
    stack = [parse_tree(source, grammar).root_node]
    while stack:
        node = stack.pop()
        begin, end = node.start_byte, node.end_byte
        whole = _whole_lines(source, begin, end) if node.is_named and b"\n" not in source[begin:end] else None
        if whole:
            parts.add(whole)
        else:
            stack += node.children
    return _convert_parts(source, sorted(parts))


def definitions(text: str, grammar: str, shape: Shape) -> list[Part]:
    source = text.encode()
    return _convert_parts(source, [part for part, is_function in _statements(source, grammar, shape) if is_function])


def select_statements(text: str, grammar: str, shape: Shape, offsets: Sequence[int]) -> list[Part]:
    """Return the statements outside functions that contain at least one of `offsets`, which are sorted."""
    source = text.encode()
    plain = [part for part, is_function in _statements(source, grammar, shape) if not is_function]
    # Offsets are sorted, so two searches show whether any offset is between begin and end.
    parts = _convert_parts(source, plain)
    return [(begin, end) for begin, end in parts if bisect_left(offsets, begin) < bisect_left(offsets, end)]


def _statements(source: bytes, grammar: str, shape: Shape) -> list[tuple[Part, bool]]:
    units: dict[Part, str] = {}
    stack: list[tuple[Node, str, Part | None]] = [(parse_tree(source, grammar).root_node, "", None)]
    while stack:
        node, parent, unit = stack.pop()
        if unit in units and among(shape.bodies, parent, node.type):
            units[unit] = "function"
        elif among(shape.lists, parent, node.type):
            # The unit contains a list of statements, which replace the unit.
            units.pop(unit or (0, 0), None)
            stack += [(child, node.type, (child.start_byte, child.end_byte)) for child in node.children]
            units.update({(child.start_byte, child.end_byte): "statement" for child in node.children if child.is_named})
        else:
            stack += [(child, node.type, unit) for child in node.children if child.child_count]
    statements = [
        (_whole_lines(source, begin, end), kind == "function") for (begin, end), kind in sorted(units.items())
    ]
    return [(part, is_function) for part, is_function in statements if part]


def _whole_lines(source: bytes, begin: int, end: int) -> Part | None:
    first = source.rfind(b"\n", 0, begin) + 1
    last = source.find(b"\n", end)
    last = len(source) if last < 0 else last + 1
    is_alone = not source[first:begin].strip() and not source[end:last].strip()
    return (first, last) if is_alone and first < last else None


def _convert_parts(source: bytes, parts: Sequence[Part]) -> list[Part]:
    points = code_points(source)
    return [(points[begin], points[end]) for begin, end in parts]
