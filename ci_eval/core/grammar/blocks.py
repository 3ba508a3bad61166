"""The walk of languages in which blocks, and headers of statements, define names."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ci_eval.core.grammar.syntax import Node
from ci_eval.core.grammar.walk import REFERENCE, NodePlace, Walk


class BlockWalk(Walk):
    """A walk over a language in which a header may define names for what follows: `if (T x = f(); x)`."""

    def in_order(self, nodes: Sequence[Node], place: NodePlace) -> None:
        """Visit nodes strictly in order, names that stand alone included."""
        names = self.names
        # `push` would handle a name that stands alone at once, before the nodes in front of it. So names wait as well.
        at_once, waiting = [], []
        for node in nodes:
            if node.child_count or node.type in names:
                waiting.append((node, REFERENCE, place))
            else:
                at_once.append(node)
        waiting.reverse()
        self._stack += waiting
        self.push(at_once, REFERENCE, place)


def leaves(node: Node) -> Iterator[Node]:
    """Yield the leaves below a node, in their order."""
    stack = [node]
    while stack:
        inner = stack.pop()
        if inner.child_count:
            stack += reversed(inner.children)
        else:
            yield inner
