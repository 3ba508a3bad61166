"""The prediction of tokens at a caret by nested n-gram caches of the file, its folder and the project.

After Hellendoorn and Devanbu, "Are deep neural networks the best choice for modeling source code?" (FSE 2017). Each
cache is an interpolated n-gram model. The models are mixed: the more contexts before the caret a cache has seen, the
larger is its share. Text after the caret is read backwards.

The tokens of all files are stored as numbers in one array. As in a suffix array, positions are sorted by the tokens
before them. The tokens that follow a context are counted on demand.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from copy import copy
from functools import lru_cache, partial
from itertools import islice, takewhile
from operator import itemgetter
from pathlib import PurePosixPath
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ci_eval.core.logs.names import START_OF_LINE
from ci_eval.plugins.learning.ngrams import NOTHING, Cache, Lexer, factors, shares, tokenize_lines

Ids = NDArray[np.int32]

BETWEEN_FILES = 0
NO_ID = -1
TOP = 24
"""The limit of the tokens that a level proposes."""
FEW = 48
"""Contexts that occur at more positions than this have cached counts."""
CACHED = 16384
"""The number of contexts whose counts are cached."""


class Level(NamedTuple):
    """The counts of the tokens that follow a context in a set of files. One file may be left out."""

    total: int
    counts: Mapping[str, int]
    """Token → its count in all files."""
    less: Mapping[str, int]
    """Token → its count in the file that is left out."""
    top: Sequence[str]
    """The most frequent tokens. Equally frequent tokens are ordered by number."""


class Texts:
    """A numbering of texts from 1, in order of first occurrence; after `sort`, in alphabetical order."""

    def __init__(self) -> None:
        self.ids: dict[str, int] = {}
        self.texts: list[str] = [""]

    def add(self, text: str) -> int:
        number = self.ids.get(text)
        if number is None:
            number = self.ids[text] = len(self.texts)
            self.texts.append(text)
        return number

    def sort(self) -> Ids:
        """Number the texts in alphabetical order. Return an array from old to new numbers."""
        order = sorted(range(len(self.texts)), key=self.texts.__getitem__)
        self.texts = [self.texts[number] for number in order]
        self.ids = {text: number for number, text in enumerate(self.texts) if number}
        numbers = np.empty(len(order), dtype=np.int32)
        numbers[order] = np.arange(len(order), dtype=np.int32)
        return numbers

    def known(self, texts: Iterable[str]) -> list[int]:
        """Return the numbers of texts. The number of a text that was never added is NO_ID."""
        return [self.ids.get(text, NO_ID) for text in texts]


def number_tokens(lines: Iterable[Sequence[str]], texts: Texts) -> Ids:
    """Return the numbers of all tokens, with START_OF_LINE in front of each line that has tokens."""
    add, start = texts.add, texts.add(START_OF_LINE)
    return np.array([number for line in lines if line for number in (start, *map(add, line))], dtype=np.int32)


def backwards(file: Ids, start: int) -> Ids:
    """Reverse the order of the lines and of the tokens in each line. `start`: the number of START_OF_LINE."""
    lines = np.split(file, np.flatnonzero(file == start))[1:]
    return np.concatenate([np.concatenate([line[:1], line[:0:-1]]) for line in reversed(lines)] or [file])


def may_follow(texts: Texts, predicted: Callable[[str], bool]) -> NDArray[np.bool_]:
    return np.fromiter((text not in {"", START_OF_LINE} and predicted(text) for text in texts.texts), bool)


class Corpus:
    def __init__(self, files: Sequence[Ids], texts: Texts, follows: NDArray[np.bool_], order: int) -> None:
        """`follows`: see `may_follow`. `order`: the length of the longest counted sequences, in tokens."""
        # The gap between files is as long as a context, so no context reaches into the previous file.
        gap = np.full(max(order - 1, 1), BETWEEN_FILES, dtype=np.int32)
        whole = np.concatenate([gap, *(part for file in files for part in (file, gap))])
        of_file = np.repeat(np.arange(-1, len(files)), [len(gap), *(len(file) + len(gap) for file in files)])
        places = np.flatnonzero(follows[whole])
        before = [whole[places - back] for back in range(1, order)]
        # lexsort sorts by its last key first, so the nearest token comes last.
        sorting = np.lexsort(before[::-1]) if before else np.arange(len(places))
        self.texts = texts
        # Python's array is faster than numpy's if single values are read, as `bisect` does.
        self.before = [array("i", column[sorting].tobytes()) for column in before]
        self.next = array("i", whole[places[sorting]].tobytes())
        self.of_file = of_file[places[sorting]].astype(np.int32)
        self.counted = lru_cache(maxsize=CACHED)(self._count)

    def _count(self, low: int, high: int) -> dict[str, int]:
        """Return token → count in descending order. Tokens of equal counts are ordered by number."""
        ids, counts = np.unique(np.frombuffer(self.next, np.int32)[low:high], return_counts=True)
        order = np.argsort(-counts, kind="stable")
        return dict(zip(map(self.texts.texts.__getitem__, ids[order].tolist()), counts[order].tolist(), strict=True))


class Others:
    """A corpus without one of its files, or the whole corpus if `file` is None."""

    def __init__(self, corpus: Corpus, file: int | None) -> None:
        own = np.flatnonzero(corpus.of_file == file) if file is not None else np.empty(0)
        self._corpus, self._own = corpus, array("i", own.astype(np.int32).tobytes())
        self._level = lru_cache(maxsize=CACHED)(self._count)

    def levels(self, context: Sequence[int]) -> list[Level]:
        """Return a level for each context of the last 0, 1, 2 … tokens, until a context never occurs. Contexts that
        occur at the same positions share one level object."""
        levels: list[Level] = []
        low, high = 0, len(self._corpus.next)
        level = self._level(low, high)
        for column, number in zip(self._corpus.before, reversed(context), strict=False):
            if level is None:
                return levels
            levels.append(level)
            # Most long contexts occur once; then one comparison is enough.
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
        # Sorting is stable, so equal tokens stay in the order of their numbers.
        few = dict(Counter(texts[number] for number in left).most_common())
        return Level(total, few, NOTHING, list(islice(few, TOP)))


def _most_frequent(counts: Mapping[str, int], less: Mapping[str, int], numbers: Mapping[str, int]) -> list[str]:
    """Return the TOP tokens with the highest `counts` minus `less`. Equal counts are ordered by `numbers`."""
    if not less:
        return list(islice(counts, TOP))
    first, unchanged = list[tuple[int, int, str]](), 0
    for text, count in counts.items():
        left = count - less.get(text, 0)
        if left:
            first.append((-left, numbers[text], text))
        unchanged += left == count
        # Counts descend, so later tokens cannot be more frequent than these TOP tokens.
        if unchanged == TOP:
            break
    return [text for _, _, text in sorted(first)[:TOP]]


class Surrounding:
    """The tokens up to the caret (`before`), and those after the caret in reverse order (`after`). `before` holds at
    most `capacity` tokens. See Cache for other parameters."""

    def __init__(self, language: str, order: int, predicted: Callable[[str], bool], capacity: int = 10**9) -> None:
        self._language, self._capacity = language, capacity
        self.before, self.after = Cache(order, predicted), Cache(order, predicted)
        self.forget()

    def forget(self) -> None:
        self.before.forget()
        self.after.forget()
        self._lexer = Lexer(self._language)
        self._read, self._rest = "", ""
        self._lines: list[tuple[int, str | None]] = []
        """Each line after the caret's line, nearest last: its number of tokens, and `Lexer.opened` at its beginning."""
        self._begun: list[str] = []
        self._ending: list[str] = []

    def read(self, before: str, after: str) -> None:
        end = before.rfind("\n") + 1
        if end < len(self._read) or not before.startswith(self._read):
            self.forget()
        if end > len(self._read):
            for line in before[len(self._read) : end].split("\n")[:-1]:
                tokens = self._lexer.line(line)
                # The caret was in the first of these lines, so the cache already has the beginning of this line.
                _replace_end(self.before, self._begun, [START_OF_LINE, *tokens] if tokens else [])
                self._begun = []
            self.before.keep(self._capacity)
            self._read = before[:end]
        begun_in = copy(self._lexer)
        begun = [START_OF_LINE, *begun_in.line(before[end:])]
        _replace_end(self.before, self._begun, begun)
        self._begun = begun
        line, _, further_lines = after.partition("\n")
        ending = [START_OF_LINE, *reversed(begun_in.line(line))] if after else []
        if further_lines != self._rest or (self._lines and self._lines[-1][1] != begun_in.opened):
            _replace_end(self.after, self._ending, [])
            self._ending = []
            self._move(further_lines, begun_in)
        _replace_end(self.after, self._ending, ending)
        self._ending = ending

    def _move(self, further_lines: str, lexer: Lexer) -> None:
        passed = self._rest[: len(self._rest) - len(further_lines)]
        # The cache can be updated only if the caret has passed whole lines.
        known = bool(further_lines) and self._rest.endswith(further_lines) and passed.endswith("\n")
        if known:
            for _ in range(passed.count("\n")):
                self.after.take_back(self._lines.pop()[0])
        # If a multi-line string or comment was opened or closed before these lines, their tokens change.
        if not known or self._lines[-1][1] != lexer.opened:
            self.after.forget()
            self._lines = []
            read = []
            for line in further_lines.split("\n") if further_lines else []:
                opened, tokens = lexer.opened, lexer.line(line)
                read.append((opened, [START_OF_LINE, *reversed(tokens)] if tokens else []))
            for opened, tokens in reversed(read):
                self.after.add(tokens)
                self._lines.append((len(tokens), opened))
        self._rest = further_lines


def _replace_end(cache: Cache, old: Sequence[str], new: Sequence[str]) -> None:
    same, most = 0, min(len(old), len(new))
    while same < most and old[same] == new[same]:
        same += 1
    cache.take_back(len(old) - same)
    cache.add(new[same:])


class Project:
    """The tokens of a project's files. The corpora are made when they are first needed."""

    def __init__(self, files: Mapping[str, str], language: str, order: int, predicted: Callable[[str], bool]) -> None:
        """`files`: path → text. `predicted`: whether a token may follow a context."""
        self.texts = Texts()
        read = {path: number_tokens(tokenize_lines(text, language), self.texts) for path, text in sorted(files.items())}
        # Equal counts are ordered by number. Numbers in reading order would depend on the open file's text on disk,
        # which may hold the answer.
        numbers = self.texts.sort()
        self.files = {path: numbers[ids] for path, ids in read.items()}
        self._start = self.texts.add(START_OF_LINE)
        self._follows, self.order = may_follow(self.texts, predicted), order
        self._folders: dict[str, dict[str, Ids]] = {}
        for path, ids in self.files.items():
            self._folders.setdefault(_folder_path(path), {})[path] = ids
        self._whole = lru_cache(maxsize=2)(partial(self._corpus, self.files))
        self._folder = lru_cache(maxsize=64)(lambda folder, back: self._corpus(self._folders.get(folder, {}), back))
        self.others = lru_cache(maxsize=4)(self._others)

    def _corpus(self, files: Mapping[str, Ids], back: bool) -> Corpus:
        turned = [backwards(file, self._start) if back else file for file in files.values()]
        return Corpus(turned, self.texts, self._follows, self.order)

    def frequent(self, path: str) -> Iterator[tuple[str, int]]:
        """Yield the tokens of all files except `path` with their counts, ordered by count (highest first) and text."""
        for level in self.others(("project",), path, False)[0].levels(()):
            counts = Counter(level.counts)
            counts.subtract(level.less)
            yield from sorted((+counts).items(), key=lambda pair: (-pair[1], pair[0]))

    def _others(self, scopes: Sequence[str], path: str, back: bool) -> list[Others]:
        folder = _folder_path(path)
        corpora = [(self._whole(back), self.files)] if "project" in scopes else []
        # If the project has only one folder, the folder's counts would repeat the project's.
        if "folder" in scopes and not (corpora and self._folders.keys() <= {folder}):
            corpora.append((self._folder(folder, back), self._folders.get(folder, {})))
        return [Others(corpus, list(files).index(path) if path in files else None) for corpus, files in corpora]


@lru_cache(maxsize=64)
def _folder_path(path: str) -> str:
    return PurePosixPath(path).parent.as_posix()


class Nested:
    def __init__(self, project: Project, path: str, scopes: Sequence[str], weight: float, candidates: int) -> None:
        """`candidates`: the limit of tokens for each side of the caret. `weight`: see `factors`."""
        self._project, self._path = project, path
        self._scopes, self._weight, self._candidates = scopes, weight, candidates

    def likely(self, around: Surrounding) -> list[tuple[str, float]]:
        """Return tokens with probabilities, the highest first. Equally likely tokens are ordered by the length of the
        context (longest first), then by cache (nearest first)."""
        sides = [self._side(around.before, back=False)]
        if around.after.tokens:
            sides.append(self._side(around.after, back=True))
        known, most = dict[str, float](), self._candidates * len(sides)
        lengths = reversed(range(self._project.order))
        for following in (tokens for length in lengths for side in sides for tokens in side.after(length)):
            known.update(dict.fromkeys(following, 0.0))
            if len(known) >= most:
                known = dict(islice(known.items(), most))
                break
        total = sum(side.weight for side in sides)
        for side in sides:
            side.add_chances(known, side.weight / total)
        ranked = sorted(known.items(), key=itemgetter(1), reverse=True)
        while ranked and ranked[-1][1] <= 0:
            ranked.pop()
        return ranked

    def _side(self, cache: Cache, *, back: bool) -> _Side:
        context = cache.context(cache.order - 1)
        known = self._project.texts.known(context)
        wider = [others.levels(known) for others in self._project.others(self._scopes, self._path, back)]
        if "file" not in self._scopes:
            return _Side(None, wider, self._weight)
        ends = (context[len(context) - length :] for length in range(len(context) + 1))
        seen = takewhile(itemgetter(1), ((last, cache.total(last)) for last in ends))
        file = [Level(total, cache.following(last), NOTHING, ()) for last, total in seen]
        return _Side(file, wider, self._weight)


class _Side:
    def __init__(self, file: list[Level] | None, wider: Sequence[Sequence[Level]], weight: float) -> None:
        """`file`: the levels of the open file for contexts of 0, 1, 2 … tokens; None if the file is not used.
        `wider`: the levels of project and folder, the widest first."""
        self._file, self._wider = file or [], wider
        models = wider if file is None else [*wider, file]
        parts, side_weight = shares(tuple(map(len, models)))
        self._factors: list[tuple[Level, float]] = []
        for part, levels in zip(parts, models, strict=True):
            last = 0
            for level, factor in zip(levels, factors([level.total for level in levels], weight), strict=True):
                # Tokens that follow a longer context also follow the shorter one. So levels with equal totals have
                # equal counts, and one entry with the sum of their factors is enough.
                before = self._factors.pop()[1] if level.total == last else 0.0
                self._factors.append((level, before + part * factor))
                last = level.total
        # The caller divides by the sum of the sides' weights, so it must not be 0 if no side has seen a context.
        self.weight = max(side_weight, 1e-9)

    def after(self, length: int) -> Iterator[Iterable[str]]:
        """Yield each cache's tokens after the context of this length (nearest cache and most frequent token first)."""
        if length < len(self._file):
            yield _top(self._file[length].counts)
        for levels in reversed(self._wider):
            # If the longer context has the same level, its tokens were yielded already.
            if length < len(levels) and (length + 1 == len(levels) or levels[length] is not levels[length + 1]):
                yield levels[length].top

    def add_chances(self, chances: dict[str, float], share: float) -> None:
        for level, factor in self._factors:
            counts, less, times = level.counts, level.less, share * factor
            get = counts.get
            if less:
                for text, chance in chances.items():
                    if count := get(text):
                        chances[text] = chance + times * (count - less.get(text, 0))
            elif len(counts) < len(chances):
                for text, count in counts.items():
                    if text in chances:
                        chances[text] += times * count
            else:
                for text, chance in chances.items():
                    if count := get(text):
                        chances[text] = chance + times * count


def _top(counts: Mapping[str, int]) -> Iterable[str]:
    """Return the TOP most frequent tokens. Tokens of equal counts are ordered by text."""
    # The order in `counts` cannot be used: it depends on earlier positions of the caret.
    if len(counts) == 1:
        return counts
    texts: Iterable[str] = counts
    if len(counts) > TOP:
        least = sorted(counts.values())[-TOP]
        texts = [text for text, count in counts.items() if count >= least]
    return sorted(sorted(texts), key=counts.__getitem__, reverse=True)[:TOP]
