"""The order in which the nodes of a text are read."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Generic, TypeVar

from ci_eval.core.grammar.syntax import Node

Scope = TypeVar("Scope")


class StackWalk(Generic[Scope]):
    """A reading whose remaining tasks are a stack, so that no nesting is too deep for it."""

    def __init__(self) -> None:
        self._todo: list[Callable[[], None]] = []

    def _read(self, node: Node, scope: Scope) -> None:
        raise NotImplementedError

    def _work(self) -> None:
        while self._todo:
            self._todo.pop()()

    def _visit(self, node: Node | None, scope: Scope) -> None:
        """Read the node next, before what was to be done already."""
        if node is not None and node.child_count:
            self._todo.append(lambda: self._read(node, scope))

    def _visit_all(self, nodes: Iterable[Node], scope: Scope) -> None:
        for node in reversed(list(nodes)):
            self._visit(node, scope)

    def _then(self, nodes: Iterable[Node | None], scope: Scope, task: Callable[[], None]) -> None:
        """Read the nodes, then do the task."""
        self._todo.append(task)
        self._visit_all((node for node in nodes if node is not None), scope)
