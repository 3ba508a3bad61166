"""Slices of source text by the nodes of its tree."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from ci_eval.grammar.syntax import Node


def text_of(source: bytes, node: Node | None) -> str:
    """The text of a node, "" of none."""
    return source[node.start_byte : node.end_byte].decode(errors="replace") if node else ""


def named(node: Node | None) -> list[Node]:
    """The children that the grammar names, without comments."""
    return [child for child in node.children if child.is_named and "comment" not in child.type] if node else []


def below(node: Node, *, into: Callable[[Node], bool] = lambda _: True) -> Iterator[Node]:
    """The nodes below a node that have children, in order of their beginnings; what is below one that `into` refuses
    is left out."""
    stack = [child for child in reversed(node.children) if child.child_count]
    while stack:
        found = stack.pop()
        yield found
        if into(found):
            stack += [child for child in reversed(found.children) if child.child_count]


def field(node: Node, *path: str) -> Node | None:
    """What is reached through one field after another."""
    found: Node | None = node
    for name in path:
        found = found.child_by_field_name(name) if found else None
    return found


def indented(source: bytes, begin: int) -> int:
    """Where the line of `begin` starts, if there is nothing but blanks in front of it; else `begin` itself."""
    first = source.rfind(b"\n", 0, begin) + 1
    return begin if source[first:begin].strip() else first


def lines_of(source: bytes, node: Node) -> str:
    """The text of a node with the blanks in front of its first line."""
    return source[indented(source, node.start_byte) : node.end_byte].decode(errors="replace")


def dedented(source: bytes, begin: int, end: int) -> str:
    """The text from `begin` to `end`, each line without the indentation that the first one has."""
    first = indented(source, begin)
    indent = source[first:begin].decode()
    lines = source[begin:end].decode(errors="replace").split("\n")
    return "\n".join(line.removeprefix(indent) for line in lines)


def without(source: bytes, begin: int, end: int, cut: Iterable[tuple[int, int]]) -> str:
    """The text from `begin` to `end` without some ranges of it, which are in order, and the blank lines they leave."""
    kept = b""
    for first, last in cut:
        start = max(indented(source, first), begin)
        kept += source[begin:start]
        begin, rest = last, source.find(b"\n", last, end)
        if rest < 0 or source[last:rest].strip(b" \t;"):
            continue
        if source[start - 1 : start] not in {b"", b"\n"}:
            kept = kept.rstrip(b" \t")
            continue
        begin = rest + 1
        if kept.endswith((b"\n\n", b"{\n")):
            begin = _after_blank_lines(source, begin, end)
    return (kept + source[begin:end]).decode(errors="replace")


def _after_blank_lines(source: bytes, begin: int, end: int) -> int:
    """Where the first line from `begin` on that is not blank starts."""
    rest = source[begin:end]
    return begin + rest[: len(rest) - len(rest.lstrip())].rfind(b"\n") + 1


def without_comments(source: bytes, node: Node, end: int | None = None) -> str:
    """The text of a node, to `end`, with the blanks in front of its first line, and without comments."""
    last = node.end_byte if end is None else end
    return without(source, indented(source, node.start_byte), last, _comments(node, last))


def _comments(node: Node, end: int) -> Iterator[tuple[int, int]]:
    stack = [node]
    while stack:
        found = stack.pop()
        if "comment" in found.type:
            yield found.start_byte, found.end_byte
        stack += [child for child in reversed(found.children) if child.start_byte < end]


def line_of(source: bytes, offset: int) -> int:
    """The number (1-based) of the line that a byte is on."""
    return source.count(b"\n", 0, offset) + 1
