"""The counts of tokens by context in the files of a project, for contexts of any length, in little memory.

All tokens stand in one array of numbers. Positions are sorted by the tokens before them, so that those with the same
context are neighbours, as in a suffix array. Followers of a context are counted on demand.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from itertools import islice
from operator import itemgetter
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ci_eval.core.logs.names import START_OF_LINE

Ids = NDArray[np.int32]

BETWEEN_FILES = 0
"""Number that stands for no token."""
NO_ID = -1
TOP = 24
"""Number of the most frequent tokens that are known of each context."""
FEW = 48
"""The most tokens that are counted without arrays, which is faster."""
REMEMBERED = 16384
"""Number of contexts whose counts are cached, since they recur."""


class Level(NamedTuple):
    """The tokens that follow a context in a set of files, with one file left out."""

    total: int
    """Number of tokens that follow."""
    counts: Mapping[str, int]
    """Token → how often it follows. Includes the file that is left out, if `less` has it."""
    less: Mapping[str, int]
    """Token → how often it follows in the file that is left out."""
    top: Sequence[str]
    """The most frequent tokens; equal ones by their numbers."""


class Texts:
    """A numbering of the texts of tokens, from 1 on, in the order in which they were first seen or in that of the
    texts."""

    def __init__(self) -> None:
        self.ids: dict[str, int] = {}
        self.texts: list[str] = [""]

    def add(self, text: str) -> int:
        """Return the number of a text, which is added if it is new."""
        number = self.ids.get(text)
        if number is None:
            number = self.ids[text] = len(self.texts)
            self.texts.append(text)
        return number

    def sort(self) -> Ids:
        """Number the texts anew, in their own order. Return an array of the new numbers by the former ones."""
        order = sorted(range(len(self.texts)), key=self.texts.__getitem__)
        self.texts = [self.texts[number] for number in order]
        self.ids = {text: number for number, text in enumerate(self.texts) if number}
        numbers = np.empty(len(order), dtype=np.int32)
        numbers[order] = np.arange(len(order), dtype=np.int32)
        return numbers

    def known(self, texts: Iterable[str]) -> list[int]:
        """Return the numbers of texts, NO_ID for one that was never added."""
        return [self.ids.get(text, NO_ID) for text in texts]


def number_tokens(lines: Iterable[Sequence[str]], texts: Texts) -> Ids:
    """Return a file's tokens as numbers. Each line that has tokens begins with START_OF_LINE."""
    add, start = texts.add, texts.add(START_OF_LINE)
    return np.array([number for line in lines if line for number in (start, *map(add, line))], dtype=np.int32)


def backwards(file: Ids, start: int) -> Ids:
    lines = np.split(file, np.flatnonzero(file == start))[1:]
    return np.concatenate([np.concatenate([line[:1], line[:0:-1]]) for line in reversed(lines)] or [file])


def may_follow(texts: Texts, predicted: Callable[[str], bool]) -> NDArray[np.bool_]:
    """Return for each number whether its text may be predicted."""
    return np.fromiter((bool(text) and text != START_OF_LINE and predicted(text) for text in texts.texts), bool)


class Corpus:
    """An index of the positions in a set of files at which a token follows that may be predicted."""

    def __init__(self, files: Sequence[Ids], texts: Texts, follows: NDArray[np.bool_], order: int) -> None:
        """Build the index. `follows` is the result of `may_follow`. `order` counts the tokens of the longest sequences:
        the context, and the one that follows."""
        # A gap as long as a context keeps contexts from reaching into the file before.
        gap = np.full(max(order - 1, 1), BETWEEN_FILES, dtype=np.int32)
        whole = np.concatenate([gap, *(part for file in files for part in (file, gap))])
        of_file = np.repeat(np.arange(-1, len(files)), [len(gap), *(len(file) + len(gap) for file in files)])
        places = np.flatnonzero(follows[whole])
        before = [whole[places - back] for back in range(1, order)]
        # lexsort sorts by its last key first, so the nearest token comes last.
        sorting = np.lexsort(before[::-1]) if before else np.arange(len(places))
        self.texts = texts
        # For single values, and for `bisect`, Python's array is faster than numpy's.
        self.before = [array("i", column[sorting].tobytes()) for column in before]
        self.next = array("i", whole[places[sorting]].tobytes())
        self._of_file = of_file[places[sorting]].astype(np.int32)
        self.counted = lru_cache(maxsize=REMEMBERED)(self._count)

    def file_positions(self, file: int | None) -> array[int]:
        """Return the positions of one file, in their order; none if `file` is None."""
        return array("i", np.flatnonzero(self._of_file == file).astype(np.int32).tobytes() if file is not None else b"")

    def _count(self, low: int, high: int) -> dict[str, int]:
        """Return how often each token is at these positions, the most frequent first; equal ones by their numbers."""
        ids, counts = np.unique(np.frombuffer(self.next, np.int32)[low:high], return_counts=True)
        order = np.argsort(-counts, kind="stable")
        return dict(zip(map(self.texts.texts.__getitem__, ids[order].tolist()), counts[order].tolist(), strict=True))


class Others:
    """The counts of a corpus, with one of its files left out."""

    def __init__(self, corpus: Corpus, file: int | None) -> None:
        """Prepare the counts. `file` is the number of the file to leave out, None to leave out none."""
        self._corpus, self._own = corpus, corpus.file_positions(file)
        self._known: dict[tuple[int, int], Level | None] = {}

    def levels(self, context: Sequence[int]) -> list[Level]:
        """Return what follows contexts of 0, 1, 2 … tokens, the last ones of `context`, up to the first that never
        occurs.

        If longer contexts stand at the same positions, the levels are the same object.
        """
        levels: list[Level] = []
        low, high = 0, len(self._corpus.next)
        level = self._level(low, high)
        for column, number in zip(self._corpus.before, reversed(context), strict=False):
            if level is None:
                return levels
            levels.append(level)
            # Most long contexts occur once.
            if high - low == 1:
                if column[low] != number:
                    return levels
            else:
                before = high - low
                low = bisect_left(column, number, low, high)
                high = bisect_right(column, number, low, high)
                if high - low != before:
                    level = self._level(low, high)
        return levels if level is None else [*levels, level]

    def _level(self, low: int, high: int) -> Level | None:
        """Return the tokens at these positions, without those of the file that is left out. None if there are none."""
        if low == high:
            return None
        places = low, high
        if places not in self._known:
            if len(self._known) == REMEMBERED:
                self._known.clear()
            self._known[places] = self._count(low, high)
        return self._known[places]

    def _count(self, low: int, high: int) -> Level | None:
        first, last = bisect_left(self._own, low), bisect_left(self._own, high)
        total = high - low - (last - first)
        if not total:
            return None
        following, texts = self._corpus.next, self._corpus.texts.texts
        if high - low == 1:
            text = texts[following[low]]
            return Level(1, {text: 1}, NOTHING, (text,))
        if high - low > FEW:
            counts = self._corpus.counted(low, high)
            less = Counter(texts[following[place]] for place in self._own[first:last])
            return Level(total, counts, less, _most_frequent(counts, less, self._corpus.texts.ids))
        left = sorted(following[low:high])
        for place in self._own[first:last]:
            left.remove(following[place])
        few: dict[str, int] = {}
        for number in left:
            text = texts[number]
            few[text] = few.get(text, 0) + 1
        # Sorting is stable, so equal tokens stay in the order of their numbers.
        if len(few) > 1:
            few = dict(sorted(few.items(), key=itemgetter(1), reverse=True))
        return Level(total, few, NOTHING, list(islice(few, TOP)))


NOTHING: Mapping[str, int] = {}


def _most_frequent(counts: Mapping[str, int], less: Mapping[str, int], numbers: Mapping[str, int]) -> list[str]:
    """Return the first TOP of `counts`, which has the most frequent first, without those in `less`. Equal ones are
    ordered by `numbers`."""
    if not less:
        return list(islice(counts, TOP))
    first, unchanged = list[tuple[int, int, str]](), 0
    for text, count in counts.items():
        left = count - less.get(text, 0)
        if left:
            first.append((-left, numbers[text], text))
        unchanged += left == count
        # All later tokens are less frequent than TOP of these.
        if unchanged == TOP:
            break
    return [text for _, _, text in sorted(first)[:TOP]]
