"""The methods of a file in a language whose code is all in classes, as Java's and C#'s is."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Set
from dataclasses import dataclass

from ci_eval.core.grammar.syntax import Node
from ci_eval.plugins.mining.trees import field_text, named_children


@dataclass(frozen=True)
class Method:
    node: Node
    classes: tuple[Node, ...]
    """Classes around it, the outermost first."""
    marks: frozenset[str]
    """Its annotations (Java) or attributes (C#), by their last names."""

    def owner(self, source: bytes) -> str:
        """Return the name of the innermost class, an empty string outside of classes."""
        return field_text(source, self.classes[-1], "name") if self.classes else ""


def methods(
    root: Node, classes: Set[str], bodies: Set[str], marks: Callable[[Node], frozenset[str]]
) -> Iterator[Method]:
    """Yield the methods below `root`, in order. `classes` and `bodies`: the types of nodes that are classes, and of all
    that methods are found in; `marks` reads those of a method."""
    stack: list[tuple[Node, tuple[Node, ...]]] = [(node, ()) for node in reversed(named_children(root))]
    while stack:
        node, around = stack.pop()
        if node.type == "method_declaration":
            yield Method(node, around, marks(node))
        elif node.type in bodies:
            inner = (*around, node) if node.type in classes else around
            stack += [(child, inner) for child in reversed(named_children(node))]
