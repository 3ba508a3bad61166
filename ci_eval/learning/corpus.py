"""Counts of what follows what in the files of a project, for contexts of any length, in little memory.

All tokens stand in one array of numbers; the places are sorted by the tokens before them, so that those with the same
context are neighbours, as in a suffix array. What a context is followed by is counted when it is asked for.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import islice
from operator import itemgetter
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ci_eval.learning.names import START_OF_LINE

Ids = NDArray[np.int32]

BETWEEN_FILES = 0
"""The number that stands for no token."""
NO_ID = -1
TOP = 24
"""Most frequent tokens that are known of each context."""
FEW = 48
"""Up to so many tokens are counted without arrays, which is faster."""
REMEMBERED = 2048
"""Contexts whose counts are kept, since they are asked for again and again."""


class Following(NamedTuple):
    """What a context is followed by."""

    counts: Mapping[int, int]
    """Token → how often it follows; the most frequent first, of equal ones those that were read first."""
    total: int
    """How often any follows."""
    where: tuple[int, int]
    """The places of the corpus that were counted, from one to before the other."""


NOTHING = Following({}, 0, (0, 0))


class Elsewhere(NamedTuple):
    """What a context is followed by in a set of files, but for one of them."""

    total: int
    """How often any token follows."""
    counts: Mapping[int, int]
    """Token → how often it does in all of the files,"""
    less: Mapping[int, int]
    """and in the one that does not count."""
    top: Sequence[int]
    """The most frequent ones; of equal ones those that were read first."""


def _left(found: Following, own: Following) -> Elsewhere:
    counts, less = found.counts, own.counts
    if not less:
        return Elsewhere(found.total, counts, less, list(islice(counts, TOP)))
    first, unchanged = list[tuple[int, int]](), 0
    for token, count in counts.items():
        if token not in less:
            first.append((-count, token))
            unchanged += 1
            # Whatever comes later is less frequent than TOP of these.
            if unchanged == TOP:
                break
        elif left := count - less[token]:
            first.append((-left, token))
    first.sort()
    return Elsewhere(found.total - own.total, counts, less, [token for _, token in first[:TOP]])


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

    def known(self, texts: Iterable[str]) -> list[int]:
        """The numbers of texts; NO_ID for one that was never added."""
        return [self.ids.get(text, NO_ID) for text in texts]


def numbered(lines: Iterable[Sequence[str]], texts: Texts) -> Ids:
    """A file's tokens as numbers, each line that has any begun by START_OF_LINE."""
    add, start = texts.add, texts.add(START_OF_LINE)
    return np.array([number for line in lines if line for number in (start, *map(add, line))], dtype=np.int32)


def backwards(file: Ids, start: int) -> Ids:
    """The same file read from its end: each line is begun by the same mark, its tokens are in reverse order."""
    lines = np.split(file, np.flatnonzero(file == start))[1:]
    return np.concatenate([np.concatenate([line[:1], line[:0:-1]]) for line in reversed(lines)] or [file])


def may_follow(texts: Texts, predicted: Callable[[str], bool]) -> NDArray[np.bool_]:
    """Of each number, whether its text is one that may be predicted."""
    return np.fromiter((bool(text) and text != START_OF_LINE and predicted(text) for text in texts.texts), bool)


class Corpus:
    """The counts of a set of files."""

    def __init__(self, files: Sequence[Ids], follows: NDArray[np.bool_], order: int) -> None:
        """`follows`: see `may_follow`. `order`: tokens of the longest sequences: one less of context, and the one that
        follows."""
        gap = np.full(max(order - 1, 1), BETWEEN_FILES, dtype=np.int32)
        whole = np.concatenate([gap, *(part for file in files for part in (file, gap))])
        places = np.flatnonzero(follows[whole])
        before = [whole[places - back] for back in range(1, order)]
        sorting = np.lexsort(before[::-1]) if before else np.arange(len(places))
        # For single values, and a search by `bisect`, an array is faster than one of numpy.
        self._before = [array("i", each[sorting].tobytes()) for each in before]
        self._next = array("i", whole[places[sorting]].tobytes())
        self._following = lru_cache(maxsize=REMEMBERED)(self._count)
        self.but = lru_cache(maxsize=REMEMBERED)(self._many_but)
        """What follows at those places, but for the places of another corpus, which is one of its files."""

    def __len__(self) -> int:
        return len(self._next)

    def contexts(self, context: Sequence[int]) -> Iterator[Following]:
        """What follows contexts of 0, 1, 2 … tokens, the last ones of `context`, up to the first that never occurs."""
        low, high = 0, len(self._next)
        if not high:
            return
        found = self._at(low, high)
        yield found
        for column, wanted in zip(self._before, reversed(context), strict=False):
            # Most long contexts occur once.
            if high - low == 1:
                if column[low] != wanted:
                    return
            else:
                before = high - low
                low = bisect_left(column, wanted, low, high)
                high = bisect_right(column, wanted, low, high)
                if low == high:
                    return
                if high - low != before:
                    found = self._at(low, high)
            yield found

    def _many_but(self, where: tuple[int, int], own: Corpus, less: tuple[int, int]) -> Elsewhere:
        return _left(self._at(*where), own._at(*less))

    def _at(self, low: int, high: int) -> Following:
        if low == high:
            return NOTHING
        return self._few(low, high) if high - low <= FEW else self._following(low, high)

    def _few(self, low: int, high: int) -> Following:
        if high - low == 1:
            return Following({self._next[low]: 1}, 1, (low, high))
        counts: dict[int, int] = {}
        for token in sorted(self._next[low:high]):
            counts[token] = counts.get(token, 0) + 1
        if len(counts) > 1:
            counts = dict(sorted(counts.items(), key=itemgetter(1), reverse=True))
        return Following(counts, high - low, (low, high))

    def _count(self, low: int, high: int) -> Following:
        ids, counts = np.unique(np.frombuffer(self._next, np.int32)[low:high], return_counts=True)
        order = np.argsort(-counts, kind="stable")
        counted = dict(zip(ids[order].tolist(), counts[order].tolist(), strict=True))
        return Following(counted, high - low, (low, high))


def without(whole: Corpus, own: Corpus, less: Sequence[Following], context: Sequence[int]) -> Iterator[Elsewhere]:
    """What follows contexts of 0, 1, 2 … tokens in a corpus, but for the file `own`, up to the first that never occurs;
    `less`: what follows them in that file. Where longer contexts stand at the same places, it is the same object."""
    left, known = None, ((0, 0), (0, 0))
    for length, found in enumerate(whole.contexts(context)):
        here = less[length] if length < len(less) else NOTHING
        if found.total == here.total:
            return
        places = found.where, here.where
        if left is None or places != known:
            left, known = whole.but(found.where, own, here.where) if found.total > FEW else _left(found, here), places
        yield left
