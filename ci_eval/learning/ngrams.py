"""How likely each text is after the code typed so far: an n-gram cache over the file, mixed with counts of the
project's other files.

After Hellendoorn and Devanbu, "Are deep neural networks the best choice for modeling source code?" (FSE 2017), as their
SLP-Core computes it (JMModel, InverseMixModel, the capacity of CacheModel); the cache is that of Tu, Su and Devanbu,
"On the localness of software" (FSE 2014). Contexts are of any tokens, but only names and keywords are predicted.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence

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


def interpolated(levels: Iterable[Level]) -> tuple[Floats, int]:
    """The candidates' probabilities, and the number of contexts that were seen before.

    Jelinek-Mercer smoothing with weight 1/2, over contexts of 0, 1, 2 … tokens up to the first that was never seen.
    """
    probability, mass, seen = np.zeros(1), 0.0, 0
    for counts, total in levels:
        if not total:
            break
        probability, mass, seen = (probability + counts / total) / 2, (mass + 1) / 2, seen + 1
    return (probability / mass if seen else probability), seen


def mixed(one: tuple[Floats, int], other: tuple[Floats, int]) -> Floats:
    """The mean of two models' probabilities, each weighted by 2^(number of contexts it had seen)."""
    weights = [min(2.0**seen, SURE) if seen else 0.0 for _, seen in (one, other)]
    together: Floats = one[0] * weights[0] + other[0] * weights[1]
    return together / max(sum(weights), 1.0)


class Typed:
    """The tokens of a file up to the caret, with counts of what followed what.

    When the caret moves forward, only the new lines are read; when it moves back, the file is read again.
    """

    def __init__(self) -> None:
        self._forget()

    def _forget(self) -> None:
        self._read = ""
        self._tokens: list[str] = []
        self._on_line = 0
        self._oldest = 0
        self._places: dict[str, list[int]] = defaultdict(list)
        self._after: dict[tuple[str, ...], Counter[str]] = defaultdict(Counter)

    def read(self, before: str) -> None:
        """Move the caret to the end of `before`, the text of the file up to there."""
        for _ in range(self._on_line):
            self._take_back()
        end = before.rfind("\n") + 1
        if not before.startswith(self._read) or end < len(self._read):
            self._forget()
        for line in before[len(self._read) : end].splitlines():
            if tokens := tokens_of(line):
                self._add([START_OF_LINE, *tokens])
        while len(self._tokens) - self._oldest > CAPACITY:
            self._count(self._oldest, -1)
            self._oldest += 1
        self._read = before[:end]
        begun = [START_OF_LINE, *tokens_of(before[end:])]
        self._add(begun)
        self._on_line = len(begun)

    def _add(self, tokens: Sequence[str]) -> None:
        for token in tokens:
            self._places[token].append(len(self._tokens))
            self._tokens.append(token)
            self._count(len(self._tokens) - 1, 1)

    def _take_back(self) -> None:
        self._count(len(self._tokens) - 1, -1)
        self._places[self._tokens.pop()].pop()

    def _count(self, place: int, times: int) -> None:
        token = self._tokens[place]
        if is_name(token):
            for begin in range(max(place - ORDER + 1, 0), place + 1):
                context = tuple(self._tokens[begin:place])
                after = self._after[context]
                after[token] += times
                if not after[token]:
                    del after[token]
                if not after:
                    del self._after[context]

    def context(self, length: int) -> tuple[str, ...]:
        """The last tokens before the caret, at most `length`."""
        return tuple(self._tokens[max(len(self._tokens) - length, 0) :])

    def last(self, text: str) -> int:
        """The number (from 1 on) of the last token that was that text; 0 if none was."""
        places = self._places.get(text)
        return places[-1] + 1 if places else 0

    def levels(self, texts: Sequence[str]) -> Iterable[Level]:
        """For contexts of 0, 1, 2 … tokens before the caret: how often each text followed, and how often any name."""
        for length in range(min(ORDER, len(self._tokens) + 1)):
            after = self._after.get(self.context(length), Counter())
            yield np.array([after[text] for text in texts], dtype=np.float64), float(after.total())
