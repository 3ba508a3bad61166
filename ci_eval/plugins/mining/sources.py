"""Functions that read source files in worker processes, and functions for nodes of syntax trees."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TypeVar

from ci_eval.core.grammar.syntax import Node
from ci_eval.core.workers import Workers

TIMEOUT = 60.0
"""The time limit for one file, in seconds. A grammar that needs longer is stuck."""
LARGEST = 1_000_000
"""The size of the largest file that is read, in bytes. Larger files are mostly generated."""
Result = TypeVar("Result")


def read_all(
    paths: Sequence[str],
    read: Callable[..., Result | str],
    shared: tuple[object, ...],
    *,
    jobs: int,
    advance: Callable[[int, int], None],
    timeout: float = TIMEOUT,
) -> tuple[dict[str, Result], dict[str, str]]:
    """Read each file by `read(*shared, path)`, which returns a result or an error message. Return the results by path,
    and the messages by path. `advance(done, of)` is called after each file. `timeout`: seconds for one file."""
    results: dict[str, Result] = {}
    troubles: dict[str, str] = {}
    processes = min(jobs, max(len(paths) // 50, 1))
    with Workers[str, "Result | str"](read, jobs=processes, timeout=timeout, tries=2, shared=shared) as workers:
        for outcome in workers.map(deque(paths)):
            if outcome is not None:
                result = outcome.trouble if outcome.result is None else outcome.result
                if isinstance(result, str):
                    # A path may hold any bytes, but messages are UTF-8.
                    troubles[outcome.task.encode(errors="backslashreplace").decode()] = result
                else:
                    results[outcome.task] = result
            advance(len(results) + len(troubles), len(paths))
    return dict(sorted(results.items())), dict(sorted(troubles.items()))


def node_text(source: bytes, node: Node | None) -> str:
    return source[node.start_byte : node.end_byte].decode(errors="replace") if node else ""


def lines_of(source: bytes, node: Node) -> tuple[int, int]:
    """Return the numbers (1-based) of the node's first and last line."""
    first = source.count(b"\n", 0, node.start_byte) + 1
    return first, first + source.count(b"\n", node.start_byte, node.end_byte)


def named_children(node: Node | None) -> list[Node]:
    """Return the named children that are not comments."""
    return [child for child in node.children if child.is_named and "comment" not in child.type] if node else []


def child_of_type(node: Node, type_: str) -> Node | None:
    return next((child for child in named_children(node) if child.type == type_), None)


def descendants(node: Node, *, into: Callable[[Node], bool] = lambda _: True) -> Iterator[Node]:
    """Yield the inner nodes below `node` in order. If `into(inner)` is false, no node below `inner` is yielded."""
    stack = [child for child in reversed(node.children) if child.child_count]
    while stack:
        descendant = stack.pop()
        yield descendant
        if into(descendant):
            stack += [child for child in reversed(descendant.children) if child.child_count]


def field_text(source: bytes, node: Node, name: str) -> str:
    return node_text(source, node.child_by_field_name(name))


def field(node: Node | None, name: str) -> Node | None:
    return node.child_by_field_name(name) if node else None


def line_begin(source: bytes, begin: int) -> int:
    """Return the start of the line if only blanks precede `begin` on it; otherwise return `begin`."""
    first = source.rfind(b"\n", 0, begin) + 1
    return begin if source[first:begin].strip() else first


def node_lines(source: bytes, node: Node) -> str:
    """Return the node's text with the indentation of its first line."""
    return source[line_begin(source, node.start_byte) : node.end_byte].decode(errors="replace")


def dedent(source: bytes, begin: int, end: int) -> str:
    """Return the text from `begin` to `end`, with the first line's indentation removed from all lines."""
    first = line_begin(source, begin)
    indent = source[first:begin].decode()
    lines = source[begin:end].decode(errors="replace").split("\n")
    return "\n".join(line.removeprefix(indent) for line in lines)


def remove_ranges(source: bytes, begin: int, end: int, cut: Iterable[tuple[int, int]]) -> str:
    """Return the text from `begin` to `end` without the sorted ranges `cut` and the blank lines that these leave."""
    kept = b""
    for first, last in cut:
        start = max(line_begin(source, first), begin)
        kept += source[begin:start]
        begin, line_end = last, source.find(b"\n", last, end)
        if line_end < 0 or source[last:line_end].strip(b" \t;"):
            continue
        if source[start - 1 : start] not in {b"", b"\n"}:
            kept = kept.rstrip(b" \t")
            continue
        begin = line_end + 1
        if kept.endswith((b"\n\n", b"{\n")):
            remainder = source[begin:end]
            begin = begin + remainder[: len(remainder) - len(remainder.lstrip())].rfind(b"\n") + 1
    return (kept + source[begin:end]).decode(errors="replace")


def remove_comments(source: bytes, node: Node, end: int | None = None) -> str:
    last = node.end_byte if end is None else end
    comments, stack = [], [node]
    while stack:
        descendant = stack.pop()
        if "comment" in descendant.type:
            comments.append((descendant.start_byte, descendant.end_byte))
        stack += [child for child in reversed(descendant.children) if child.start_byte < last]
    return remove_ranges(source, line_begin(source, node.start_byte), last, comments)
