"""The parsing of source texts with the pinned grammars."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from ci_eval.plugins.drivers.codebleu.parts import Node, TooMuch, depth

# `import_module` hides the types from type checkers, since ci-eval's own release may have other types.
_LIBRARY: Any = import_module("tree_sitter")
GRAMMARS: dict[str, Any] = {
    name.replace("c_sharp", "csharp"): _LIBRARY.Language(import_module(f"tree_sitter_{name}").language())
    for name in ("python", "java", "go", "javascript", "c_sharp")
}
DEEPEST = 3000
"""The limit of a tree's depth, which recursive walks need. No program that people write is deeper."""


def parse(language: str, text: str) -> Node:
    root = Node(_LIBRARY.Parser(GRAMMARS[language]).parse(text.encode()).root_node)
    # No recursion here: the tree's depth is checked only after the tree is complete.
    stack = [root]
    while stack:
        node = stack.pop()
        if node.raw.child_count:
            node.children = [Node(raw) for raw in node.raw.children]
            stack += node.children
    if depth(root) > DEEPEST:
        raise TooMuch(f"the text's tree is more than {DEEPEST:,} levels deep")
    return root
