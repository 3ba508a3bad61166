"""The block of code that a line is in: the innermost function or class, by the language's grammar."""

from __future__ import annotations

from dataclasses import dataclass

from ci_eval.core.grammar.syntax import Node, parser


@dataclass(frozen=True)
class Blocks:
    """The node types by which a language's blocks are recognised."""

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
