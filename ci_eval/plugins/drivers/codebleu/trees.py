"""The source texts as trees of the pinned grammars."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from ci_eval.plugins.drivers.codebleu.parts import Node, TooMuch, depth

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


def parse(language: str, text: str) -> Node:
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
