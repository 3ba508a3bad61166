"""What every walk gives: tokens in order, none of which overlap."""

from __future__ import annotations

import tracemalloc

from ci_eval.core.grammar.parsing import read
from ci_eval.core.grammar.syntax import Node
from ci_eval.core.grammar.walk import NodePlace, Walk, extract_tokens
from ci_eval.core.model import Kind
from ci_eval.plugins.languages.python import PythonWalk


class Doubling(Walk):
    """A walk that finds every name twice, and once more without its first letter."""

    names = frozenset({"identifier"})

    def name(self, node: Node, _role: str, place: NodePlace) -> None:
        self.emit(node, Kind.TYPE_REFERENCE, place, text=self.text(node)[1:], skip=len(self.text(node)[0].encode()))
        self.emit(node, Kind.VARIABLE, place)
        self.emit(node, Kind.KEYWORD, place)


def test_of_tokens_that_overlap_the_first_one_counts() -> None:
    tokens = extract_tokens(Doubling("é1 = (abc, de)".encode(), "", {}), "python").tokens
    assert [(token.offset, token.text) for token in tokens] == [(0, "é1"), (6, "abc"), (11, "de")]
    assert {token.properties.kind for token in tokens} == {Kind.VARIABLE}


def test_visited_nodes_are_freed_while_the_tree_is_held() -> None:
    source = b"DATA = [\n" + b"    [1, 2, [3, 4]],\n" * 5_000 + b"]\n"
    tree = read(source, "python")
    walk = PythonWalk(source, "a.py", {})
    tracemalloc.start()
    try:
        walk.run(*tree.roots)
        left, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    # All nodes would take 6 MB.
    assert left < 1_000_000
