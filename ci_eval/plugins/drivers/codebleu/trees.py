"""The source texts as trees of the pinned grammars."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module
from typing import Any

# By name, for the release that ci-eval itself may have is another one, of other types.
_LIBRARY: Any = import_module("tree_sitter")
GRAMMARS: dict[str, Any] = {
    language: _LIBRARY.Language(import_module(f"tree_sitter_{name}").language())
    for language, name in {
        "python": "python",
        "java": "java",
        "go": "go",
        "javascript": "javascript",
        "csharp": "c_sharp",
    }.items()
}
PARSERS = {name: _LIBRARY.Parser(grammar) for name, grammar in GRAMMARS.items()}
DEEPEST = 3000
"""The most levels of a tree. No program that people write has more, and functions that follow it down must end."""
STRINGS = frozenset(("string_literal", "string", "character_literal"))
"""The nodes with parts that CodeBLEU takes as one token."""


class TooMuch(Exception):
    """A text that would take too long; it has no score."""


class Node:
    __slots__ = ("children", "index", "raw", "text", "type")

    def __init__(self, raw: Any) -> None:
        """Wrap a node of tree-sitter's own, still without children."""
        self.raw = raw
        self.type: str = raw.type
        self.children: list[Node] = []
        self.index = -1
        """The number of the token that the node is; -1 = it is none."""
        self.text = ""
        """The text of the token."""

    def field(self, name: str) -> Node | None:
        """Return the first child of that name, or None."""
        raw = self.raw.child_by_field_name(name)
        return None if raw is None else next((child for child in self.children if child.raw == raw), None)

    def fields(self, *names: str) -> list[Node]:
        named = [raw for name in names for raw in self.raw.children_by_field_name(name)]
        return [child for child in self.children if child.raw in named] if named else []

    @property
    def is_name(self) -> bool:
        """Return whether the node is a token that the grammar leaves open: no keyword, no punctuation."""
        return self.index >= 0 and self.type != self.text


def parse(language: str, text: str) -> Node:
    """Return the root of the text's tree. Raises TooMuch."""
    root = Node(PARSERS[language].parse(text.encode()).root_node)
    # Not by recursion, since the depth is checked only once the tree is there.
    stack = [root]
    while stack:
        node = stack.pop()
        if node.raw.child_count:
            node.children = [Node(raw) for raw in node.raw.children]
            stack += node.children
    if depth(root) > DEEPEST:
        raise TooMuch(f"its tree is more than {DEEPEST:,} levels deep")
    return root


def depth(root: Node) -> int:
    levels, level = 0, [root]
    while level:
        levels, level = levels + 1, [child for node in level for child in node.children]
    return levels


def walk(root: Node) -> Iterator[Node]:
    """Yield all nodes, parents first, in order of the text."""
    stack = [root]
    while stack:
        node = stack.pop()
        yield node
        stack.extend(reversed(node.children))


def tokens(root: Node) -> Iterator[Node]:
    """Yield the nodes that CodeBLEU takes as tokens, in order."""
    stack = [root]
    while stack:
        node = stack.pop()
        if node.children and node.type not in STRINGS:
            stack.extend(reversed(node.children))
        elif node.type != "comment" and (node.type in STRINGS or not node.raw.child_count):
            yield node
