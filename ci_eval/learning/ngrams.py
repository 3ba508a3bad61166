"""How likely each text is after the code typed so far: an n-gram cache over the file, mixed with counts of the
project's other files.

After Hellendoorn and Devanbu, "Are deep neural networks the best choice for modeling source code?" (FSE 2017), as their
SLP-Core computes it (JMModel, InverseMixModel, the capacity of CacheModel); the cache is that of Tu, Su and Devanbu,
"On the localness of software" (FSE 2014). Contexts are of any tokens, but only names and keywords are predicted.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from ci_eval.learning.names import START_OF_LINE, Floats, is_name, tokens_of

ORDER = 6
"""Tokens of the longest sequences that are counted in the file: up to five of context, and the one that follows."""
CAPACITY = 5_000
"""Tokens before the caret's line that the cache holds."""
SURE = 1_000.0
"""The largest weight of a model in a mixture; reached when it has seen ten contexts or more."""

Level = tuple[Floats, float]
"""How often each candidate followed a context of one length, and how often any name did."""


def interpolated(levels: Iterable[Level], weight: float = 0.5) -> tuple[Floats, int]:
    """The candidates' probabilities, and the number of contexts that were seen before.

    Jelinek-Mercer smoothing, over contexts of 0, 1, 2 … tokens up to the first that was never seen; each counts with
    this weight beside all shorter ones.
    """
    probability, mass, seen = np.zeros(1), 0.0, 0
    for counts, total in levels:
        if not total:
            break
        probability = (1 - weight) * probability + weight * counts / total
        mass, seen = (1 - weight) * mass + weight, seen + 1
    return (probability / mass if seen else probability), seen


def mixed(one: tuple[Floats, int], other: tuple[Floats, int]) -> Floats:
    """The mean of two models' probabilities, each weighted by 2^(number of contexts it had seen)."""
    return nested([other, one])[0]


def nested(models: Iterable[tuple[Floats, int]]) -> tuple[Floats, float]:
    """The mean of several models' probabilities, the widest model first, each mixed with all before it; and its weight.

    As InverseMixModel does it: a model that has seen n contexts has confidence 1 - 2^-n and weight 1 / (1 -
    confidence), at most SURE; a mixture has the mean confidence of its parts, weighted in the same way.
    """
    given = list(models)
    parts, weight = shares(tuple(seen for _, seen in given))
    return sum((found * part for (found, _), part in zip(given, parts, strict=True)), np.zeros(1)), weight


@lru_cache(maxsize=4096)
def shares(seen: tuple[int, ...]) -> tuple[tuple[float, ...], float]:
    """How much each model counts in that mixture, from the number of contexts that it has seen; and its weight."""
    parts, weight = tuple[float, ...](), 0.0
    for each in seen:
        own = min(2.0**each, SURE) if each else 0.0
        together = max(own + weight, 1.0)
        parts = (*(part * weight / together for part in parts), own / together)
        unsure = (bool(own) + bool(weight)) / together  # the mean of 1 / weight
        weight = min(1 / unsure, SURE) if unsure else 0.0
    return parts, weight


def factors(totals: Sequence[float], weight: float) -> list[float]:
    """What a count after each context is multiplied by, so that their sum is the probability of `interpolated`.

    `totals`: how often any token follows contexts of 0, 1, 2 … tokens; none is 0.
    """
    return [part / total for part, total in zip(_faded(len(totals), weight), totals, strict=True)]


@lru_cache(maxsize=256)
def _faded(lengths: int, weight: float) -> tuple[float, ...]:
    """How much contexts of 0, 1, 2 … tokens count; 1 in sum."""
    faded = [weight * (1 - weight) ** shorter for shorter in reversed(range(lengths))]
    mass = sum(faded)
    return tuple(part / mass for part in faded)


@dataclass(slots=True)
class _After:
    """What followed a context: how often anything did, and text → how often that did."""

    total: int
    counts: dict[str, int]


class Cache:
    """A sequence of tokens that grows and shrinks at its end, with counts of what followed what."""

    def __init__(self, order: int = ORDER, predicted: Callable[[str], bool] = is_name) -> None:
        """`order`: tokens of the longest sequences that are counted; `predicted`: which tokens may follow."""
        self.order = order
        self._predicted = predicted
        self.forget()

    def forget(self) -> None:
        """Begin anew."""
        self.tokens: list[str] = []
        self._oldest = 0
        self._places: dict[str, list[int]] = defaultdict(list)
        self._after: dict[tuple[str, ...], _After] = {}

    def add(self, tokens: Iterable[str]) -> None:
        """Append these."""
        for token in tokens:
            self._places[token].append(len(self.tokens))
            self.tokens.append(token)
            self._count(len(self.tokens) - 1, 1)

    def take_back(self, number: int) -> None:
        """Remove so many from the end."""
        for _ in range(number):
            self._count(len(self.tokens) - 1, -1)
            self._places[self.tokens.pop()].pop()

    def keep(self, number: int) -> None:
        """Count no more than the last ones, so many."""
        while len(self.tokens) - self._oldest > number:
            self._count(self._oldest, -1)
            self._oldest += 1

    def _count(self, place: int, times: int) -> None:
        token = self.tokens[place]
        if place < self._oldest or not self._predicted(token):
            return
        longest = tuple(self.tokens[max(place - self.order + 1, 0) : place])
        for begin in range(len(longest) + 1):
            context = longest[begin:]
            after = self._after.get(context)
            if after is None:
                self._after[context] = _After(times, {token: times})
                continue
            after.total += times
            counts = after.counts
            counts[token] = counts.get(token, 0) + times
            if not counts[token]:
                del counts[token]
                if not counts:
                    del self._after[context]

    def context(self, length: int) -> tuple[str, ...]:
        """The last tokens, at most `length`."""
        return tuple(self.tokens[max(len(self.tokens) - length, 0) :])

    def following(self, context: tuple[str, ...]) -> Mapping[str, int]:
        """Text → how often it followed these tokens."""
        after = self._after.get(context)
        return after.counts if after else _NOTHING

    def total(self, context: tuple[str, ...]) -> int:
        """How often any did."""
        after = self._after.get(context)
        return after.total if after else 0

    def last(self, text: str) -> int:
        """The number (from 1 on) of the last token that was that text; 0 if none was."""
        places = self._places.get(text)
        return places[-1] + 1 if places else 0

    def levels(self, texts: Sequence[str]) -> Iterable[Level]:
        """For contexts of the last 0, 1, 2 … tokens: how often each text followed, and how often any did."""
        whole = self.context(self.order - 1)
        for length in range(len(whole) + 1):
            last = whole[len(whole) - length :]
            after = self.following(last)
            counts = np.array([after.get(text, 0) for text in texts], dtype=np.float64)
            yield counts, float(self.total(last))


_NOTHING: Mapping[str, int] = {}


class Typed(Cache):
    """The tokens of a file up to the caret.

    When the caret moves forward, only the new lines are read; when it moves back, the file is read again.
    """

    def forget(self) -> None:
        """See Cache."""
        super().forget()
        self._read = ""
        self._on_line = 0

    def read(self, before: str) -> None:
        """Move the caret to the end of `before`, the text of the file up to there."""
        self.take_back(self._on_line)
        end = before.rfind("\n") + 1
        if not before.startswith(self._read) or end < len(self._read):
            self.forget()
        for line in before[len(self._read) : end].splitlines():
            if tokens := tokens_of(line):
                self.add([START_OF_LINE, *tokens])
        self.keep(CAPACITY)
        self._read = before[:end]
        begun = [START_OF_LINE, *tokens_of(before[end:])]
        self.add(begun)
        self._on_line = len(begun)
