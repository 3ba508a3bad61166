"""The parts of a file that people add as a whole while they write it: lines, definitions, imports
(`actions.evolution`)."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence

from ci_eval.core.contracts import Shape
from ci_eval.core.grammar.document import code_points
from ci_eval.core.grammar.remainder import among
from ci_eval.core.grammar.syntax import Node, parser

Part = tuple[int, int]
"""The begin and end of a part, in code points; a part is whole lines with their line ends."""


def lines(text: str) -> list[Part]:
    """Return all lines that are not blank."""
    parts, begin = [], 0
    for line in text.splitlines(keepends=True):
        if line.strip():
            parts.append((begin, begin + len(line)))
        begin += len(line)
    return parts


def statements_on_a_line(text: str, grammar: str) -> list[Part]:
    """Return the lines that one node of the tree fills, so that the file still parses without any of them."""
    source = text.encode()
    parts = set()
    stack = [parser(grammar).parse(source).root_node]
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
    """Return the outermost functions, as whole lines."""
    source = text.encode()
    return _convert_parts(source, [part for part, is_function in _statements(source, grammar, shape) if is_function])


def select_statements(text: str, grammar: str, shape: Shape, offsets: Sequence[int]) -> list[Part]:
    """Return the statements outside functions that contain at least one of `offsets`, which are sorted."""
    source = text.encode()
    plain = [part for part, is_function in _statements(source, grammar, shape) if not is_function]
    # Offsets are sorted, so two searches tell whether one is between begin and end.
    parts = _convert_parts(source, plain)
    return [(begin, end) for begin, end in parts if bisect_left(offsets, begin) < bisect_left(offsets, end)]


def _statements(source: bytes, grammar: str, shape: Shape) -> list[tuple[Part, bool]]:
    """Return the innermost statements outside functions, in bytes, each with whether there is a function in it."""
    units: dict[Part, str] = {}
    stack: list[tuple[Node, str, Part | None]] = [(parser(grammar).parse(source).root_node, "", None)]
    while stack:
        node, parent, unit = stack.pop()
        if unit in units and among(shape.bodies, parent, node.type):
            units[unit] = "function"
        elif among(shape.lists, parent, node.type):
            # The unit has a list of statements in it, so those are the innermost ones.
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
    """Return the whole lines from byte `begin` to `end`, or None if anything else stands on them."""
    first = source.rfind(b"\n", 0, begin) + 1
    last = source.find(b"\n", end)
    last = len(source) if last < 0 else last + 1
    is_alone = not source[first:begin].strip() and not source[end:last].strip()
    return (first, last) if is_alone and first < last else None


def _convert_parts(source: bytes, parts: Sequence[Part]) -> list[Part]:
    points = code_points(source)
    return [(points[begin], points[end]) for begin, end in parts] if points else list(parts)
