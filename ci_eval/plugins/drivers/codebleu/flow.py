"""The data-flow edges of texts: which variable comes from which. They are compared without the names of variables."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from ci_eval.plugins.drivers.codebleu.trees import TooMuch

COMES, COMPUTED = "comesFrom", "computedFrom"

Entry = tuple[str, int, str, list[str], list[int]]
"""A tuple: variable, its token, how, the variables that it comes from, their tokens."""
Edge = tuple[int, str, tuple[int, ...]]
"""A tuple as in `Entry`, but without names: each variable is its number, in order of appearance."""
States = dict[str, list[int]]
"""The tokens that may have given a variable its value, by variable."""

MOST_STEPS = 500_000
"""The most nodes that are visited in one text; loops within loops take twice as many a level."""


class Steps:
    """A counter of steps, so that no text takes for ever."""

    def __init__(self) -> None:
        self.done = 0

    def take(self, count: int = 1) -> None:
        """Count more steps. Raises TooMuch if there are more than MOST_STEPS."""
        self.done += count
        if self.done > MOST_STEPS:
            raise TooMuch(f"its loops within loops take more than {MOST_STEPS:,} steps")


def merge(entries: list[Entry], begin: int) -> None:
    """Merge the entries from `begin` on that have the same variable, token and way."""
    merged: dict[tuple[str, int, str], tuple[list[str], list[int]]] = {}
    for name, token, how, sources, positions in entries[begin:]:
        known = merged.get((name, token, how))
        if known:
            sources, positions = unique([*known[0], *sources]), sorted({*known[1], *positions})
        merged[name, token, how] = sources, positions
    entries[begin:] = [(*key, *value) for key, value in merged.items()]


def join_states(states: Iterable[States]) -> States:
    """Return what may hold if several ways through a program meet."""
    merged: dict[str, set[int]] = {}
    for state in states:
        for name, positions in state.items():
            merged.setdefault(name, set()).update(positions)
    return {name: sorted(positions) for name, positions in merged.items()}


def edges(entries: Iterable[Entry]) -> list[Edge]:
    """Return the data-flow edges, independent of the order of entries. Isolated tokens have no edge."""
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


def count_common_edges(expected: Sequence[Edge], given: Sequence[Edge]) -> int:
    """Return how many of `expected` are in `given`, each at most as often as it is there."""
    return sum((Counter(expected) & Counter(given)).values())


def unique(names: Iterable[str]) -> list[str]:
    """Return each name once, in order of first appearance."""
    # A set's order would differ from process to process.
    return list(dict.fromkeys(names))
