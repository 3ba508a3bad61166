"""Which variable comes from which: the edges of two texts, compared whatever the variables are called."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from ci_eval.drivers.codebleu.trees import TooMuch

COMES, COMPUTED = "comesFrom", "computedFrom"

Entry = tuple[str, int, str, list[str], list[int]]
"""(variable, its token, how, the variables that it comes from, their tokens)."""
Edge = tuple[int, str, tuple[int, ...]]
"""The same without names: each variable is its number, in order of appearance."""
States = dict[str, list[int]]
"""Variable → the tokens that may have given it its value."""

MOST_STEPS = 500_000
"""Nodes that are looked at in one text; loops within loops take twice as many a level."""


class Steps:
    """Counts what is done, so that no text takes for ever."""

    def __init__(self) -> None:
        """None done."""
        self.done = 0

    def take(self, count: int = 1) -> None:
        """So many more. Raises TooMuch."""
        self.done += count
        if self.done > MOST_STEPS:
            raise TooMuch(f"its loops within loops take more than {MOST_STEPS:,} steps")


def merge(entries: list[Entry], begin: int) -> None:
    """Of the entries from `begin` on, those of one variable at one token that come about in one way become one."""
    found: dict[tuple[str, int, str], tuple[list[str], list[int]]] = {}
    for name, token, how, sources, places in entries[begin:]:
        known = found.get((name, token, how))
        if known:
            sources, places = unique([*known[0], *sources]), sorted({*known[1], *places})
        found[name, token, how] = sources, places
    entries[begin:] = [(*key, *value) for key, value in found.items()]


def united(states: Iterable[States]) -> States:
    """What may hold where the ways of a program meet."""
    met: dict[str, set[int]] = {}
    for each in states:
        for name, places in each.items():
            met.setdefault(name, set()).update(places)
    return {name: sorted(places) for name, places in met.items()}


def edges(entries: Iterable[Entry]) -> list[Edge]:
    """Of entries in whatever order; a token that nothing comes from and that comes from nothing has none."""
    ordered = sorted(entries, key=lambda entry: entry[1])
    linked = {entry[1] for entry in ordered if entry[4]} | {place for entry in ordered for place in entry[4]}
    merged: dict[int, tuple[str, str, list[str]]] = {}
    for name, token, how, sources, _ in ordered:
        if token in linked:
            known = merged.get(token)
            merged[token] = (name, how, unique([*known[2], *sources]) if known else sources)
    numbers: dict[str, int] = {}
    return [_numbered(each, numbers) for each in merged.values()]


def _numbered(entry: tuple[str, str, list[str]], numbers: dict[str, int]) -> Edge:
    name, how, sources = entry
    for each in (*sources, name):
        numbers.setdefault(each, len(numbers))
    return numbers[name], how, tuple(numbers[each] for each in sources)


def in_common(expected: Sequence[Edge], given: Sequence[Edge]) -> int:
    """How many of `expected` are in `given`, each as often at most as it is there."""
    return sum((Counter(expected) & Counter(given)).values())


def unique(names: Iterable[str]) -> list[str]:
    """Each once, in order of first appearance: a set's order would differ from process to process."""
    return list(dict.fromkeys(names))
