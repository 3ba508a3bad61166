"""The locations of the objects in a text: the code of each call, and the line where the next call would be written."""

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
"""Characters of a name."""
TRAILING = re.compile(rb"[ \t]*(?:[;#].*|//.*)?")
"""The rest of a statement's line, which stays there."""
STEP = "    "
Line = tuple[int, str]
"""(offset after which a line is written, its indentation)."""


class Layout(msgspec.Struct, frozen=True, kw_only=True):
    """Node types of the grammar."""

    lists: frozenset[str]
    """Nodes whose children are statements."""
    simple: frozenset[str]
    leaving: frozenset[str]
    """Statements after which no code is reached."""
    heads: frozenset[str]
    """Nodes with a list of statements, in which the names of preceding children are known."""
    first: frozenset[str]
    """A node that stays first in a list: a statement, or what a statement begins with."""
    walls: frozenset[str] = frozenset()
    """Nodes that hold statements only in functions."""
    may_be_empty: bool = True


class Site(msgspec.Struct, frozen=True, kw_only=True):
    name: Node
    receiver: Node
    call: Node


class Origin(msgspec.Struct, frozen=True, kw_only=True):
    thing: str
    node: Node


class Places:
    """The locations of one text, whose tree has offsets in bytes."""

    def __init__(self, source: bytes, layout: Layout) -> None:
        self._source, self._layout = source, layout
        self._points = code_points(source)

    def of(self, sites: Sequence[Site], origins: Sequence[Origin], last: Origin | None) -> ObjectPlace | None:
        """Return None if no object has a name, or no line can be written where it is known. `last`: the definition that
        counts without calls."""
        ordered = sorted(sites, key=lambda site: site.name.start_byte)
        thing = next((site for site in reversed(ordered) if self._name(site.receiver)), None)
        if thing:
            statement = self._statement(thing.call)
            name, line = self._name(thing.receiver), self._behind(statement) if statement else None
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
        line = self._before(statement) if statement else None
        span: tuple[int, int] | None = None
        if statement and statement.type in self._layout.simple:
            begin, end = statement.start_byte, statement.end_byte
            # Without this statement, the object would have no name.
            names = any(begin <= origin.node.start_byte < end for origin in origins)
            # A list of statements that must not be empty keeps its first statement.
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

    # ------------------------------------------------------------------------------------------------ statements

    def _is_list(self, node: Node) -> bool:
        """Children of broken code count if it lies between statements."""
        while node.type == "ERROR" and node.parent is not None and node.parent.type not in self._layout.walls:
            node = node.parent
        return node.type in self._layout.lists or node.type == "ERROR"

    def _statement(self, node: Node) -> Node | None:
        """Return None outside of statements."""
        while node.parent is not None and node.parent.type not in self._layout.walls:
            if self._is_list(node.parent):
                return node
            node = node.parent
        return None

    def _first_line(self, node: Node) -> Line | None:
        while node.parent is not None and node.parent.type not in self._layout.walls:
            parent = node.parent
            if self._is_list(parent):
                return self._behind(node)
            if parent.type in self._layout.heads:
                body = next((child for child in parent.children if child.type in self._layout.lists), None)
                return self._inside(body) if body else None
            node = parent
        return None

    def _inside(self, block: Node) -> Line | None:
        statements = named_children(block)
        if not statements:
            return block.start_byte + 1, self._indent(block.start_byte) + STEP
        first = statements[0]
        stays = any(node.type in self._layout.first for node in (first, *named_children(first)[:1]))
        return self._behind(first) if stays else self._before(first)

    def _before(self, statement: Node) -> Line | None:
        """Return None if other code precedes the statement on its line."""
        begin = self._source.rfind(b"\n", 0, statement.start_byte) + 1
        # Before the first line, there is no end of a line to write after.
        if not begin or self._source[begin : statement.start_byte].strip():
            return None
        return begin - 1, self._indent(statement.start_byte)

    def _behind(self, statement: Node) -> Line:
        if statement.type in self._layout.leaving and (before := self._before(statement)):
            return before  # the code after it is never reached
        end = self._source.find(b"\n", statement.end_byte)
        end = len(self._source) if end < 0 else end
        if not TRAILING.fullmatch(self._source[statement.end_byte : end]):
            end = statement.end_byte
        return end, self._indent(statement.start_byte)

    def _indent(self, offset: int) -> str:
        begin = self._source.rfind(b"\n", 0, offset) + 1
        line = self._source[begin:offset]
        return line[: len(line) - len(line.lstrip(b" \t"))].decode()
