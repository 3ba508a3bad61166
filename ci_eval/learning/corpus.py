"""Counts of what follows what in the files of a project, for contexts of any length, in little memory.

All tokens stand in one array of numbers; the places are sorted by the tokens before them, so that those with the same
context are neighbours, as in a suffix array. What a context is followed by is counted when it is asked for.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ci_eval.learning.names import START_OF_LINE, Floats
from ci_eval.learning.ngrams import Level

Ids = NDArray[np.int32]
Counts = NDArray[np.integer[Any]]

BETWEEN_FILES = 0
"""The number that stands for no token."""
NO_ID = -1
NONE: Ids = np.empty(0, dtype=np.int32)
TOP = 24
"""Most frequent tokens that are known of each context."""
FEW = 48
"""Up to so many tokens are counted without arrays, which is faster."""
REMEMBERED = 4096
"""Contexts whose counts are kept, since they are asked for again and again."""


class Following(NamedTuple):
    """What a context is followed by."""

    ids: Ids
    """Sorted; none where `few` has all."""
    counts: Counts
    few: Sequence[tuple[int, int]]
    """Tokens and counts, where there are few."""
    total: int
    """How often any follows."""
    top: Sequence[int]
    """The most frequent ones; of equal ones those that were read first."""

    def add_to(self, counts: Floats, candidates: Ids, places: Mapping[int, int], times: int) -> None:
        """Add the count of each candidate, `times` over. `places`: candidate → its index."""
        for token, count in self.few:
            if (place := places.get(token)) is not None:
                counts[place] += times * count
        if len(self.ids):
            found = np.minimum(self.ids.searchsorted(candidates), len(self.ids) - 1)
            counts += times * (self.counts[found] * (self.ids[found] == candidates))

    def pairs(self) -> Iterator[tuple[int, int]]:
        """All tokens with their counts."""
        yield from self.few
        yield from zip(self.ids.tolist(), self.counts.tolist(), strict=True)


class Texts:
    """Numbers for the texts of tokens, from 1 on, in the order in which they were first seen."""

    def __init__(self) -> None:
        self.ids: dict[str, int] = {}
        self.texts: list[str] = [""]

    def add(self, text: str) -> int:
        """Its number."""
        found = self.ids.get(text)
        if found is None:
            found = self.ids[text] = len(self.texts)
            self.texts.append(text)
        return found

    def known(self, texts: Iterable[str]) -> Ids:
        """The numbers of texts; NO_ID for one that was never added."""
        return np.array([self.ids.get(text, NO_ID) for text in texts], dtype=np.int32)


def numbered(lines: Iterable[Sequence[str]], texts: Texts) -> Ids:
    """A file's tokens as numbers, each line that has any begun by START_OF_LINE."""
    add, start = texts.add, texts.add(START_OF_LINE)
    return np.array([number for line in lines if line for number in (start, *map(add, line))], dtype=np.int32)


def backwards(file: Ids, start: int) -> Ids:
    """The same file read from its end: each line is begun by the same mark, its tokens are in reverse order."""
    lines = np.split(file, np.flatnonzero(file == start))[1:]
    return np.concatenate([np.concatenate([line[:1], line[:0:-1]]) for line in reversed(lines)] or [file])


class Corpus:
    """The counts of a set of files."""

    def __init__(self, files: Sequence[Ids], texts: Texts, order: int, predicted: Callable[[str], bool]) -> None:
        """`order`: tokens of the longest sequences: one less of context, and the one that follows. `predicted`: which
        tokens may follow."""
        gap = np.full(max(order - 1, 1), BETWEEN_FILES, dtype=np.int32)
        whole = np.concatenate([gap, *(part for file in files for part in (file, gap))])
        follows = np.fromiter((bool(text) and text != START_OF_LINE and predicted(text) for text in texts.texts), bool)
        places = np.flatnonzero(follows[whole])
        before = [whole[places - back] for back in range(1, order)]
        sorting = np.lexsort(before[::-1]) if before else np.arange(len(places))
        self._before = [each[sorting] for each in before]
        self._next = whole[places[sorting]]
        self._following = lru_cache(maxsize=REMEMBERED)(self._count)

    def __len__(self) -> int:
        return len(self._next)

    def contexts(self, context: Sequence[int]) -> Iterator[Following]:
        """What follows contexts of 0, 1, 2 … tokens, the last ones of `context`, up to the first that never occurs."""
        low, high = 0, len(self._next)
        for length in range(len(self._before) + 1):
            if length:
                if length > len(context):
                    return
                column, wanted = self._before[length - 1][low:high], np.int32(context[-length])
                high = low + int(column.searchsorted(wanted, "right"))
                low += int(column.searchsorted(wanted, "left"))
            if low == high:
                return
            yield self._few(low, high) if high - low <= FEW else self._following(low, high)

    def _few(self, low: int, high: int) -> Following:
        found = Counter(sorted(self._next[low:high].tolist())).most_common()
        return Following(NONE, NONE, found, high - low, [token for token, _ in found[:TOP]])

    def _count(self, low: int, high: int) -> Following:
        ids, counts = np.unique(self._next[low:high], return_counts=True)
        order = np.argsort(-counts, kind="stable")[:TOP]
        return Following(ids, counts, (), high - low, ids[order].tolist())


Contexts = Sequence[tuple[Following, Following | None]]
"""For contexts of 0, 1, 2 … tokens: what follows it in all files, and in one of them that does not count."""


def without(whole: Corpus, own: Corpus, context: Sequence[int]) -> Contexts:
    """The counts of a corpus, and beside them those of one of its files, which are not to be used."""
    less = list(own.contexts(context))
    return [
        (found, less[length] if length < len(less) else None) for length, found in enumerate(whole.contexts(context))
    ]


def levels(contexts: Contexts, candidates: Ids, places: Mapping[int, int]) -> Iterator[Level]:
    """For each context: how often each candidate follows, and how often any token does."""
    for found, own in contexts:
        counts, total = np.zeros(len(candidates)), found.total
        found.add_to(counts, candidates, places, 1)
        if own:
            own.add_to(counts, candidates, places, -1)
            total -= own.total
        yield counts, float(total)
