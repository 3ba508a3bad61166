"""A file's unified diff, as GitHub gives it, and the part of it that shows one block of the new file."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby

from ci_eval.core.grammar.syntax import Node, parser

HUNK = re.compile(r"@@ -\d+(?:,\d+)? \+(\d+)(?:,\d+)? @@")
ARROW = "        <----------"


@dataclass(frozen=True)
class DiffLine:
    """A line of a diff; `sign` is `+`, `-` or a space."""

    sign: str
    text: str
    new: int
    """Number (1-based) in the new file; for a removed line, that of the line behind it."""
    hunk: int = 0

    def __str__(self) -> str:
        return f"{self.sign}{self.text}"


def parse(patch: str) -> list[DiffLine]:
    """Return the lines of a patch's hunks, without those before the first header."""
    diff: list[DiffLine] = []
    new, hunk = 0, 0
    for line in patch.split("\n"):
        if header := HUNK.match(line):
            new, hunk = int(header[1]), hunk + 1
        # A line `\ No newline at end of file` is none of the file.
        elif hunk and line[:1] in {"+", "-", " "}:
            diff.append(DiffLine(line[0], line[1:], new, hunk))
            new += line[0] != "-"
    return diff


def line_at(patch: str, position: int) -> DiffLine | None:
    """Return the line at a position of the patch, counted from 1 below its first header; None if that is a header."""
    # Headers of further hunks are counted, too.
    # https://docs.github.com/en/rest/commits/comments#create-a-commit-comment
    upto = patch.split("\n")[: position + 1]
    is_line = len(upto) == position + 1 and upto[-1][:1] in {"+", "-", " "}
    return parse("\n".join(upto))[-1] if is_line else None


def block_diff(diff: Iterable[DiffLine], text: Sequence[str], begin: int, end: int) -> list[DiffLine]:
    """Return the lines from `begin` to `end` (1-based, both included) of the new file `text`, with the removed lines
    between them. Lines outside of the diff have no sign."""
    by_line = {new: list(lines) for new, lines in groupby(diff, lambda line: line.new)}
    block_lines: list[DiffLine] = []
    for new in range(begin, end + 1):
        lines = by_line.get(new, [])
        block_lines += [line for line in lines if line.sign != "-" or new > begin]
        if not any(line.sign != "-" for line in lines):
            block_lines.append(DiffLine(" ", text[new - 1], new))
    behind = [line for line in by_line.get(end + 1, []) if line.sign == "-"]
    # Removed lines behind the block were in it if they were indented more.
    return block_lines + [line for line in behind if _depth(line.text) > _depth(text[begin - 1])]


def _depth(line: str) -> int:
    return len(line) - len(line.lstrip())


def format_diff(lines: Iterable[DiffLine]) -> str:
    return "\n".join(map(str, lines)) + "\n"


def add_arrows(lines: Iterable[DiffLine], first: int, last: int) -> str:
    """Return the diff with arrows behind the new file's lines `first` to `last`."""
    marked = (f"{line}{ARROW}" if line.sign != "-" and first <= line.new <= last else str(line) for line in lines)
    return "\n".join(marked) + "\n"


@dataclass(frozen=True)
class Blocks:
    language: str
    functions: frozenset[str]
    classes: frozenset[str]
    around: str = ""
    """A node that belongs to the one below it: decorators."""


LANGUAGES = {
    ".py": Blocks(
        "python", frozenset({"function_definition"}), frozenset({"class_definition"}), around="decorated_definition"
    ),
    ".go": Blocks("go", frozenset({"function_declaration", "method_declaration"}), frozenset({"type_declaration"})),
    ".java": Blocks(
        "java",
        frozenset({"method_declaration", "constructor_declaration", "compact_constructor_declaration"}),
        frozenset({"class_declaration", "interface_declaration", "enum_declaration", "record_declaration"}),
    ),
    ".scala": Blocks(
        "scala",
        frozenset({"function_definition"}),
        frozenset({"class_definition", "object_definition", "trait_definition", "enum_definition"}),
    ),
}
"""End of a file's name → its language."""


@dataclass(frozen=True)
class Block:
    begin: int
    end: int
    kind: str


def find_language(path: str) -> Blocks | None:
    """Return the language by the extension of the path, None for other languages."""
    return next((blocks for end, blocks in LANGUAGES.items() if path.endswith(end)), None)


def innermost_block(source: bytes, language: Blocks, first: int, last: int) -> Block | None:
    """Return the innermost function or class that holds the lines `first` to `last`, None if none does."""
    lines = _Lines(source)
    block: Block | None = None
    whole: Node | None = None
    node: Node | None = parser(language.language).parse(source).root_node
    while node:
        kind = "function" if node.type in language.functions else "class" if node.type in language.classes else ""
        if kind:
            block = Block(*lines.of(whole or node), kind)
        whole = node if node.type == language.around else None
        inner = node.child_by_field_name("definition") if whole else None
        node = inner or next((child for child in node.children if lines.holds(child, first, last)), None)
    return block


class _Lines:
    def __init__(self, source: bytes) -> None:
        self._source = source

    def of(self, node: Node) -> tuple[int, int]:
        first = self._source.count(b"\n", 0, node.start_byte) + 1
        return first, first + self._source.count(b"\n", node.start_byte, node.end_byte)

    def holds(self, node: Node, first: int, last: int) -> bool:
        begin, end = self.of(node)
        return begin <= first and last <= end
