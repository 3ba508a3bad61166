"""Which tokens are likely at a caret: nested n-gram caches of the file, its folder and the project.

After Hellendoorn and Devanbu, "Are deep neural networks the best choice for modeling source code?" (FSE 2017): each
cache is an interpolated n-gram model, and the nearer one is mixed with all that are wider, by how long the contexts are
that it has seen. Where text behind the caret is there, the same is done with everything read backwards.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import chain, islice
from pathlib import PurePosixPath

import numpy as np

from ci_eval.learning.code import distinct, lines_of
from ci_eval.learning.corpus import TOP, Contexts, Corpus, Ids, Texts, backwards, levels, numbered, without
from ci_eval.learning.names import START_OF_LINE, Floats
from ci_eval.learning.ngrams import Cache, interpolated, nested
from ci_eval.learning.surrounding import Split, Surrounding, whole_tokens

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
        self._order, self._predicted = order, predicted
        self.whole = lru_cache(maxsize=2)(self._whole)
        self.folder = lru_cache(maxsize=16)(self._folder)
        self.own = lru_cache(maxsize=4)(self._own)
        self._all_in = lru_cache(maxsize=64)(lambda folder: all(_folder_of(each) == folder for each in self.files))

    def _whole(self, back: bool) -> Corpus:
        return self._corpus(self.files.values(), back)

    def _folder(self, folder: str, back: bool) -> Corpus:
        return self._corpus((ids for path, ids in self.files.items() if _folder_of(path) == folder), back)

    def _own(self, path: str, back: bool) -> Corpus:
        return self._corpus([self.files[path]] if path in self.files else [], back)

    def _corpus(self, files: Iterable[Ids], back: bool) -> Corpus:
        turned = [backwards(each, self._start) if back else each for each in files]
        return Corpus(turned, self.texts, self._order, self._predicted)

    def frequent(self, path: str) -> Iterator[tuple[str, int]]:
        """The tokens of the other files with their numbers, the most frequent first; of equal ones those that were read
        first."""
        counts: Counter[int] = Counter()
        for found, own in without(self.whole(False), self.own(path, False), ()):
            counts.update(dict(found.pairs()))
            counts.subtract(dict(own.pairs() if own else ()))
        yield from ((self.texts.texts[number], count) for number, count in counts.most_common() if count > 0)

    def contexts(self, scope: Scope, path: str, context: Sequence[str], *, back: bool) -> Contexts:
        """The counts after these tokens in the other files of that scope around the file at `path`."""
        folder = _folder_of(path)
        if scope == "folder" and self._all_in(folder):
            return ()  # the project's counts are the same
        corpus = self.whole(back) if scope == "project" else self.folder(folder, back)
        return without(corpus, self.own(path, back), self.texts.known(context).tolist())


def _folder_of(path: str) -> str:
    return PurePosixPath(path).parent.as_posix()


class Nested:
    """The model around one file."""

    def __init__(self, project: Project, path: str, scopes: Sequence[Scope], weight: float, candidates: int) -> None:
        """`weight`: see `interpolated`; `candidates`: how many tokens get a probability, at most."""
        self._project, self._path = project, path
        self._scopes, self._weight, self._candidates = scopes, weight, candidates

    def likely(self, around: Surrounding) -> tuple[list[str], Floats]:
        """Tokens that may stand at the caret, and their probabilities, the highest first; of equal ones those first
        that follow longer contexts in nearer caches."""
        sides = [self._side(around.before, (), back=False)]
        if around.after.tokens:
            sides.append(self._side(around.after, (), back=True))
        return self._ordered(sides)

    def likely_after(self, around: Surrounding, begun: Sequence[str]) -> tuple[list[str], Floats]:
        """The same if these tokens stood at the caret already, by what is before them alone."""
        return self._ordered([self._side(around.before, tuple(begun), back=False)])

    def _ordered(self, sides: Sequence[_Side]) -> tuple[list[str], Floats]:
        texts = list(islice(distinct(chain.from_iterable(each.texts() for each in sides)), self._candidates))
        if not texts:
            return [], np.zeros(0)
        probability, _ = nested_sides([each.probability(texts) for each in sides])
        order = np.argsort(-probability, kind="stable")
        order = order[probability[order] > 0]
        return [texts[place] for place in order], probability[order]

    def _side(self, cache: Cache, begun: tuple[str, ...], *, back: bool) -> _Side:
        most = cache.order - 1
        context = (*cache.context(most), *begun)[-most:] if most else ()
        wider = [
            self._project.contexts(scope, self._path, context, back=back)
            for scope in ("project", "folder")
            if scope in self._scopes
        ]
        own = cache if "file" in self._scopes else None
        return _Side(own, context, wider, self._project.texts, self._weight)


def nested_sides(sides: Sequence[tuple[Floats, float]]) -> tuple[Floats, float]:
    """The mean of what both sides say, each by its weight."""
    weights = [max(weight, 1e-9) for _, weight in sides]
    total = sum(weights)
    together: Floats = sum((found * weight for (found, _), weight in zip(sides, weights, strict=True)), np.zeros(1))
    return together / total, total


class _Side:
    """The caches in one direction from the caret."""

    def __init__(
        self, cache: Cache | None, context: tuple[str, ...], wider: Sequence[Contexts], texts: Texts, weight: float
    ) -> None:
        """`context`: the tokens next to the place; `wider`: what the project and the folder have after it, the widest
        first."""
        self._context = context
        self._cache, self._wider, self._texts, self._weight = cache, wider, texts, weight

    def texts(self) -> Iterator[str]:
        """Those that follow, after long contexts before short ones."""
        known = self._texts.texts
        cache = self._cache
        for length in range(len(self._context), -1, -1):
            if cache is not None:
                after = cache.following(self._context[len(self._context) - length :])
                # Equal ones by their text: their order in `after` depends on where the caret was before.
                yield from sorted(sorted(after), key=after.__getitem__, reverse=True)[:TOP] if len(after) > 1 else after
            for contexts in reversed(self._wider):
                if length < len(contexts):
                    yield from (known[number] for number in contexts[length][0].top)

    def probability(self, texts: Sequence[str]) -> tuple[Floats, float]:
        """Of each text, and the weight of the mixture."""
        ids = self._texts.known(texts)
        places = {number: place for place, number in enumerate(ids.tolist())}
        models = [interpolated(levels(each, ids, places), self._weight) for each in self._wider]
        if self._cache is not None:
            models.append(interpolated(self._cache.levels(texts, self._context), self._weight))
        return nested(models)
