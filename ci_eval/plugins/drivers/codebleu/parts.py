"""The parts of a text that CodeBLEU compares: the nodes of its tree, its n-grams of words, and its data flow."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

STRINGS = frozenset(("string_literal", "string", "character_literal"))
"""The types of nodes that count as one token, although they have children."""


class TooMuch(Exception):
    """Raised if a text would take too long. It has no score."""


class Node:
    __slots__ = ("children", "index", "raw", "text", "type")

    def __init__(self, raw: Any) -> None:
        self.raw = raw
        self.type: str = raw.type
        self.children: list[Node] = []
        self.index = -1
        """The number of the token; -1 for nodes that are not tokens."""
        self.text = ""

    def field(self, name: str) -> Node | None:
        raw = self.raw.child_by_field_name(name)
        return None if raw is None else next((child for child in self.children if child.raw == raw), None)

    def fields(self, *names: str) -> list[Node]:
        named = [raw for name in names for raw in self.raw.children_by_field_name(name)]
        return [child for child in self.children if child.raw in named] if named else []


def depth(root: Node) -> int:
    levels, level = 0, [root]
    while level:
        levels, level = levels + 1, [child for node in level for child in node.children]
    return levels


def walk(root: Node) -> Iterator[Node]:
    """Yield all nodes in the order of the text, parents before children."""
    stack = [root]
    while stack:
        node = stack.pop()
        yield node
        stack.extend(reversed(node.children))


def tokens(root: Node) -> Iterator[Node]:
    """Yield the nodes that count as tokens, in order."""
    stack = [root]
    while stack:
        node = stack.pop()
        if node.children and node.type not in STRINGS:
            stack.extend(reversed(node.children))
        elif node.type != "comment" and (node.type in STRINGS or not node.raw.child_count):
            yield node


MISSED = 0.1
"""The number of matches that is used instead of 0 ("method 1" of Chen and Cherry, 2014)."""


def count_ngrams(words: Sequence[str], order: int) -> Counter[tuple[str, ...]]:
    """Return how often each sequence of `order` words occurs."""
    return Counter(zip(*(words[first:] for first in range(order))))  # noqa: B905  until the shortest ends


def match_runs(
    counted: Sequence[str], other: Sequence[str], weights: Mapping[str, float], *, most: int = 4, least: float = 0.0
) -> float:
    """Return the share of n-grams of `counted` that are also in `other`: the geometric mean over lengths of 1 to `most`
    words, 0 without a common word.

    `weights`: word → weight, 1 by default; only single words are weighted. `least`: the least total weight that is
    assumed for the n-grams of a length.
    """
    logarithms = []
    for order in range(1, most + 1):
        runs = count_ngrams(counted, order)
        both = runs & count_ngrams(other, order)
        weigh = weights if order == 1 else {}
        part, whole = (
            math.fsum(count * weigh.get(run[0], 1.0) for run, count in weighed.items()) for weighed in (both, runs)
        )
        if order == 1 and not part:
            return 0.0
        logarithms.append(math.log((part or MISSED) / max(least, whole)))
    return math.exp(math.fsum(logarithms) / most) if most else 0.0


def brevity(expected: int, given: int) -> float:
    """Return BLEU's brevity penalty. It is below 1 if the text has fewer words than expected."""
    if given > expected:
        return 1.0
    return math.exp(1 - expected / given) if given else 0.0


COMES, COMPUTED = "comesFrom", "computedFrom"

Entry = tuple[str, int, str, list[str], list[int]]
"""(variable, its token, COMES or COMPUTED, the variables that its value comes from, their tokens)."""
Edge = tuple[int, str, tuple[int, ...]]
"""(variable, COMES or COMPUTED, the variables that its value comes from). Variables are numbered as they appear."""
States = dict[str, list[int]]
"""Variable → the tokens at which it may have got its present value."""

MOST_STEPS = 500_000
"""The limit of visits of nodes in one text. Each level of nested loops doubles the visits."""


class Flow(ABC):
    """A walk over a tree that records where the values of variables come from."""

    def __init__(self) -> None:
        self.entries: list[Entry] = []
        self._steps = 0

    @abstractmethod
    def walk(self, node: Any, states: States) -> States:
        """Record the data flow in a node. Return the states after the node; `states` must not be used afterwards."""

    def walk_all(self, nodes: Iterable[Node | None], states: States) -> States:
        for node in nodes:
            states = self.walk(node, states)
        return states

    def take(self, count: int = 1) -> None:
        self._steps += count
        if self._steps > MOST_STEPS:
            raise TooMuch(f"the text's loops within loops take more than {MOST_STEPS:,} steps")


def join_states(states: Iterable[States]) -> States:
    """Merge the states of several branches, such as those of an if and its else."""
    merged: dict[str, set[int]] = {}
    for state in states:
        for name, positions in state.items():
            merged.setdefault(name, set()).update(positions)
    return {name: sorted(positions) for name, positions in merged.items()}


def edges(entries: Iterable[Entry]) -> list[Edge]:
    """Return the data-flow edges. The order of `entries` does not matter. Isolated tokens have no edge."""
    ordered = sorted(entries, key=lambda entry: entry[1])
    linked = {entry[1] for entry in ordered if entry[4]} | {source for entry in ordered for source in entry[4]}
    merged: dict[int, tuple[str, str, list[str]]] = {}
    for name, token, how, sources, _ in ordered:
        if token in linked:
            known = merged.get(token)
            merged[token] = (name, how, unique([*known[2], *sources]) if known else sources)
    numbers: dict[str, int] = {}
    numbered: list[Edge] = []
    for name, how, sources in merged.values():
        for variable in (*sources, name):
            numbers.setdefault(variable, len(numbers))
        numbered.append((numbers[name], how, tuple(numbers[source] for source in sources)))
    return numbered


def share_edges(expected: Sequence[Edge], given: Sequence[Edge]) -> float | None:
    """Return the share of expected edges that are also in `given`, counting repeats; None if no edge is expected."""
    return (Counter(expected) & Counter(given)).total() / len(expected) if expected else None


def unique(names: Iterable[str]) -> list[str]:
    # The order of a set would differ between processes.
    return list(dict.fromkeys(names))
