"""The locations of objects in a text: their calls, and the line in which the next call would be typed."""

from __future__ import annotations

import re
from collections.abc import Sequence

import msgspec

from ci_eval.core.grammar.document import code_points
from ci_eval.core.grammar.syntax import Node
from ci_eval.core.model import CallPlace, ObjectPlace
from ci_eval.plugins.mining.sources import named_children, node_text

NAME = re.compile(r"[^\W\d][\w$]*(?:\.[^\W\d][\w$]*)*")
LONGEST = 200
"""The limit of the length of an object's name, in bytes."""
TRAILING = re.compile(rb"[ \t]*(?:[;#].*|//.*)?")
"""Matches a semicolon or comment after a statement, which stays on the statement's line."""
STEP = "    "
Line = tuple[int, str]
"""(offset after which the new line is typed, indentation of the new line)."""


class Layout(msgspec.Struct, frozen=True, kw_only=True):
    """The types of a grammar's nodes, grouped by their role in statements."""

    lists: frozenset[str]
    """Nodes whose children are statements."""
    simple: frozenset[str]
    leaving: frozenset[str]
    """Statements such as `return`: code after them is never reached."""
    heads: frozenset[str]
    """Nodes whose other children, such as parameters, define names for the list of statements in the node."""
    first: frozenset[str]
    """Statements, or first children of statements, that must remain the first in their list."""
    boundaries: frozenset[str] = frozenset()
    """Nodes at which the upward search for statements ends: they contain statements only inside functions."""
    may_be_empty: bool = True


class Site(msgspec.Struct, frozen=True, kw_only=True):
    name: Node
    receiver: Node
    call: Node


class Origin(msgspec.Struct, frozen=True, kw_only=True):
    thing: str
    node: Node


class Places:
    """The search for locations in one text. Offsets in the tree count bytes; locations count code points."""

    def __init__(self, source: bytes, layout: Layout) -> None:
        self._source, self._layout = source, layout
        self._points = code_points(source)

    def of(self, sites: Sequence[Site], origins: Sequence[Origin], last: Origin | None) -> ObjectPlace | None:
        """Return the location of the last called object that has a name. Return None if no object has a name, or if no
        line can be typed where the name is known. `last`: the definition to use if there are no calls."""
        ordered = sorted(sites, key=lambda site: site.name.start_byte)
        thing = next((site for site in reversed(ordered) if self._name(site.receiver)), None)
        if thing:
            statement = self._statement(thing.call)
            name, line = self._name(thing.receiver), self._line_after(statement) if statement else None
        else:
            name = last.thing if last and NAME.fullmatch(last.thing) else ""
            line = self._first_line(last.node) if last else None
        if not name or line is None:
            return None
        calls = tuple(self._call(site, origins) for site in ordered)
        return ObjectPlace(receiver=name, line=self._point(line[0]), indent=line[1], calls=calls)

    def _point(self, offset: int) -> int:
        return self._points[offset] if self._points else offset

    def _name(self, node: Node) -> str:
        if node.end_byte - node.start_byte > LONGEST:
            return ""
        text = node_text(self._source, node)
        return text if NAME.fullmatch(text) else ""

    def _call(self, site: Site, origins: Sequence[Origin]) -> CallPlace:
        statement = self._statement(site.call)
        line = self._line_before(statement) if statement else None
        span: tuple[int, int] | None = None
        if statement and statement.type in self._layout.simple:
            begin, end = statement.start_byte, statement.end_byte
            # The statement must stay if it defines the object's name.
            names = any(begin <= origin.node.start_byte < end for origin in origins)
            # The first statement must stay if a list of statements cannot be empty.
            if not names and (self._layout.may_be_empty or named_children(statement.parent)[0].start_byte != begin):
                span = self._point(begin), self._point(end)
        return CallPlace(
            name=node_text(self._source, site.name),
            receiver=self._name(site.receiver),
            begin=self._point(site.receiver.end_byte),
            end=self._point(site.call.end_byte),
            statement=span,
            line=self._point(line[0]) if line else None,
            indent=line[1] if line else "",
        )

    def _is_list(self, node: Node) -> bool:
        """Return whether a node's children are statements. Children of a syntax error between statements count, too."""
        while node.type == "ERROR" and node.parent is not None and node.parent.type not in self._layout.boundaries:
            node = node.parent
        return node.type in self._layout.lists or node.type == "ERROR"

    def _statement(self, node: Node) -> Node | None:
        """Return the innermost statement that contains a node, or None."""
        while node.parent is not None and node.parent.type not in self._layout.boundaries:
            if self._is_list(node.parent):
                return node
            node = node.parent
        return None

    def _first_line(self, node: Node) -> Line | None:
        while node.parent is not None and node.parent.type not in self._layout.boundaries:
            parent = node.parent
            if self._is_list(parent):
                return self._line_after(node)
            if parent.type in self._layout.heads:
                body = next((child for child in parent.children if child.type in self._layout.lists), None)
                if body is None:
                    return None
                if not (statements := named_children(body)):
                    return body.start_byte + 1, self._indent(body.start_byte) + STEP
                first = statements[0]
                stays = any(part.type in self._layout.first for part in (first, *named_children(first)[:1]))
                return self._line_after(first) if stays else self._line_before(first)
            node = parent
        return None

    def _line_before(self, statement: Node) -> Line | None:
        """Return the line before a statement, or None if there is other code before the statement on its line."""
        begin = self._source.rfind(b"\n", 0, statement.start_byte) + 1
        # A new line is typed after a line end, and no line end precedes the first line.
        if not begin or self._source[begin : statement.start_byte].strip():
            return None
        return begin - 1, self._indent(statement.start_byte)

    def _line_after(self, statement: Node) -> Line:
        if statement.type in self._layout.leaving and (before := self._line_before(statement)):
            return before  # code after the statement is never reached
        end = self._source.find(b"\n", statement.end_byte)
        end = len(self._source) if end < 0 else end
        if not TRAILING.fullmatch(self._source[statement.end_byte : end]):
            end = statement.end_byte
        return end, self._indent(statement.start_byte)

    def _indent(self, offset: int) -> str:
        begin = self._source.rfind(b"\n", 0, offset) + 1
        line = self._source[begin:offset]
        return line[: len(line) - len(line.lstrip(b" \t"))].decode()
