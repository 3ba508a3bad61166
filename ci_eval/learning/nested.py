"""Which tokens are likely at a caret: nested n-gram caches of the file, its folder and the project.

After Hellendoorn and Devanbu, "Are deep neural networks the best choice for modeling source code?" (FSE 2017): each
cache is an interpolated n-gram model, and the nearer one is mixed with all that are wider, by how long the contexts are
that it has seen. Where text behind the caret is there, the same is done with everything read backwards.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property, lru_cache
from itertools import islice
from operator import itemgetter
from pathlib import PurePosixPath
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from ci_eval.learning.code import lines_of
from ci_eval.learning.corpus import TOP, Corpus, Elsewhere, Ids, Texts, backwards, may_follow, numbered, without
from ci_eval.learning.names import START_OF_LINE
from ci_eval.learning.ngrams import Cache, factors, shares
from ci_eval.learning.surrounding import Split, Surrounding, whole_tokens

Token = TypeVar("Token", str, int)
Scope = str
"""file, folder or project."""


class Project:
    """The tokens of a project's files, and their counts in both directions, each made when it is first needed."""

    def __init__(
        self,
        files: Mapping[str, str],
        language: str,
        order: int,
        predicted: Callable[[str], bool],
        split: Split = whole_tokens,
    ) -> None:
        """`files`: path → text. `predicted`: see Corpus. `split`: the tokens of a line → what is counted."""
        self.texts = Texts()
        self.files = {
            path: numbered(map(split, lines_of(text, language)), self.texts) for path, text in sorted(files.items())
        }
        self._start = self.texts.add(START_OF_LINE)
        self.order, self._predicted = order, predicted
        self.whole = lru_cache(maxsize=2)(self._whole)
        self.folder = lru_cache(maxsize=64)(self._folder)
        self.own = lru_cache(maxsize=4)(self._own)
        self._folders: dict[str, list[Ids]] = {}
        for path, ids in self.files.items():
            self._folders.setdefault(_folder_of(path), []).append(ids)

    @cached_property
    def _follows(self) -> NDArray[np.bool_]:
        return may_follow(self.texts, self._predicted)

    def _whole(self, back: bool) -> Corpus:
        return self._corpus(self.files.values(), back)

    def _folder(self, folder: str, back: bool) -> Corpus:
        return self._corpus(self._folders.get(folder, []), back)

    def _own(self, path: str, back: bool) -> Corpus:
        return self._corpus([self.files[path]] if path in self.files else [], back)

    def _corpus(self, files: Iterable[Ids], back: bool) -> Corpus:
        turned = [backwards(each, self._start) if back else each for each in files]
        return Corpus(turned, self._follows, self.order)

    def frequent(self, path: str) -> Iterator[tuple[str, int]]:
        """The tokens of the other files with their numbers, the most frequent first; of equal ones those that were read
        first."""
        counts: Counter[int] = Counter()
        for found in self.whole(False).contexts(()):
            counts.update(found.counts)
        for own in self.own(path, False).contexts(()):
            counts.subtract(own.counts)
        yield from ((self.texts.texts[number], count) for number, count in counts.most_common() if count > 0)

    def contexts(
        self, scopes: Sequence[Scope], path: str, context: Sequence[str], *, back: bool
    ) -> list[list[Elsewhere]]:
        """What follows these tokens in the other files of the project and of the folder, as far as these are scopes."""
        known, folder = self.texts.known(context), _folder_of(path)
        own = self.own(path, back)
        less = list(own.contexts(known))
        wider = []
        if "project" in scopes:
            wider.append(self.whole(back))
        # In a project of one folder, its counts are those of the project.
        if "folder" in scopes and not (wider and self._folders.keys() <= {folder}):
            wider.append(self.folder(folder, back))
        return [list(without(each, own, less, known)) for each in wider]


@lru_cache(maxsize=64)
def _folder_of(path: str) -> str:
    return PurePosixPath(path).parent.as_posix()


class Nested:
    """The model around one file."""

    def __init__(self, project: Project, path: str, scopes: Sequence[Scope], weight: float, candidates: int) -> None:
        """`weight`: see `interpolated`; `candidates`: how many tokens get a probability for each side of the caret, at
        most."""
        self._project, self._path = project, path
        self._scopes, self._weight, self._candidates = scopes, weight, candidates

    def likely(self, around: Surrounding) -> list[tuple[str, float]]:
        """Tokens that may stand at the caret, with their probabilities, the highest first; of equal ones those first
        that follow longer contexts in nearer caches."""
        sides = [self._side(around.before, (), back=False)]
        if around.after.tokens:
            sides.append(self._side(around.after, (), back=True))
        return self._ordered(sides)

    def likely_after(self, around: Surrounding, begun: Sequence[str]) -> list[tuple[str, float]]:
        """The same if these tokens stood at the caret already, by what is before them alone."""
        return self._ordered([self._side(around.before, tuple(begun), back=False)])

    def chances_after(self, around: Surrounding, begun: Sequence[str], texts: Sequence[str]) -> list[float]:
        """How likely each of these texts is where `begun` stands at the caret already, by what is before it alone."""
        candidates = _Candidates(texts, self._project.texts)
        self._side(around.before, tuple(begun), back=False).add_to(candidates, 1.0)
        return candidates.sums

    def _ordered(self, sides: Sequence[_Side]) -> list[tuple[str, float]]:
        known, most = dict[str, None](), self._candidates * len(sides)
        lengths = reversed(range(self._project.order))
        for following in (each for length in lengths for side in sides for each in side.after(length)):
            known.update(dict.fromkeys(following))
            if len(known) >= most:
                break
        texts = list(islice(known, most))
        total = sum(each.weight for each in sides)
        candidates = _Candidates(texts, self._project.texts)
        for side in sides:
            side.add_to(candidates, side.weight / total)
        found = zip(texts, candidates.sums, strict=True)
        return sorted((each for each in found if each[1] > 0), key=itemgetter(1), reverse=True)

    def _side(self, cache: Cache, begun: tuple[str, ...], *, back: bool) -> _Side:
        most = cache.order - 1
        context = (*cache.context(most), *begun)[-most:] if most else ()
        wider = self._project.contexts(self._scopes, self._path, context, back=back)
        own = cache if "file" in self._scopes else None
        return _Side(own, context, wider, self._project.texts, self._weight)


class _Candidates:
    """Tokens whose probabilities are summed up."""

    def __init__(self, texts: Sequence[str], numbers: Texts) -> None:
        self.sums = [0.0] * len(texts)
        self.by_text = dict(zip(texts, range(len(texts)), strict=True))
        # NO_ID follows nothing.
        self.by_id = dict(zip(numbers.known(texts), range(len(texts)), strict=True))

    def add(
        self, places: Mapping[Token, int], after: Mapping[Token, int], less: Mapping[Token, int], factor: float
    ) -> None:
        """Add `factor` times the count of each in `after`, without that in `less`. `places`: `by_text` or `by_id`, as
        these have it."""
        sums = self.sums
        for token in places.keys() & after.keys():
            sums[places[token]] += factor * (after[token] - less.get(token, 0) if less else after[token])


class _Side:
    """The caches in one direction from the caret."""

    def __init__(
        self,
        cache: Cache | None,
        context: tuple[str, ...],
        wider: Sequence[Sequence[Elsewhere]],
        texts: Texts,
        weight: float,
    ) -> None:
        """`context`: the tokens next to the place; `wider`: what the project and the folder have after it, the widest
        first; `weight`: see `interpolated`."""
        self._wider, self._texts = wider, texts
        self._file = list(_seen(cache, context)) if cache else []
        totals = [[level.total for level in levels] for levels in wider]
        if cache is not None:
            totals.append([total for _, total in self._file])
        parts, found = shares(tuple(map(len, totals)))
        self._factors = [
            [part * factor for factor in factors(each, weight)] for part, each in zip(parts, totals, strict=True)
        ]
        self.weight = max(found, 1e-9)
        """Of this side beside the other."""

    def after(self, length: int) -> Iterator[Iterable[str]]:
        """Those that follow the context of so many tokens, the most frequent first, in the nearest cache first."""
        if length < len(self._file):
            after, _ = self._file[length]
            yield _most_frequent(after) if len(after) > 1 else after
        for levels in reversed(self._wider):
            # What stands at the same places as after a longer context was given with that.
            if length < len(levels) and (length + 1 == len(levels) or levels[length] is not levels[length + 1]):
                yield map(self._texts.texts.__getitem__, levels[length].top)

    def add_to(self, candidates: _Candidates, share: float) -> None:
        """Add their probabilities, times `share`."""
        for levels, given in zip(self._wider, self._factors, strict=False):
            for level, factor in _once(levels, given):
                candidates.add(candidates.by_id, level.counts, level.less, share * factor)
        for (after, _), factor in zip(self._file, self._factors[-1], strict=False):
            candidates.add(candidates.by_text, after, {}, share * factor)


def _once(levels: Sequence[Elsewhere], factors: Sequence[float]) -> Iterator[tuple[Elsewhere, float]]:
    """Each level with its factor; of longer contexts at the same places, which are one object, with their sum."""
    for begin, level in enumerate(levels):
        if begin and levels[begin - 1] is level:
            continue
        end = begin + 1
        while end < len(levels) and levels[end] is level:
            end += 1
        yield level, sum(factors[begin:end])


def _most_frequent(counts: Mapping[str, int]) -> list[str]:
    """The first TOP; equal ones by their text, since their order in a cache depends on where the caret was before."""
    texts: Iterable[str] = counts
    if len(counts) > TOP:
        least = sorted(counts.values())[-TOP]
        texts = [text for text, count in counts.items() if count >= least]
    return sorted(sorted(texts), key=counts.__getitem__, reverse=True)[:TOP]


def _seen(cache: Cache, context: tuple[str, ...]) -> Iterator[tuple[Mapping[str, int], int]]:
    """What followed contexts of 0, 1, 2 … tokens, up to the first that never occurred, and how often any did."""
    for length in range(len(context) + 1):
        last = context[len(context) - length :]
        if not (total := cache.total(last)):
            return
        yield cache.following(last), total
