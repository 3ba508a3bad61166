"""Which tokens fit into a context, by vectors of sub-tokens: first a pattern of parts, then a sub-token for each."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice, product

import numpy as np
from numpy.typing import NDArray

from ci_eval.learning.code import Class
from ci_eval.learning.embedding import Embedding, Vectors
from ci_eval.learning.naming import Parts, Pattern, slots, units, written

Lines = Sequence[Sequence[str]]
"""The tokens of a file, line by line."""

NEIGHBOUR = 5.0
"""Tokens after which a pattern's frequency next to one token counts as much as its frequency anywhere."""
MOST_SLOTS = 6
COMBINATIONS = 64
"""Ways to fill one pattern that are looked at."""


@dataclass(frozen=True, kw_only=True)
class Filling:
    """The parameters."""

    patterns: int
    """The most frequent ones that are filled."""
    slot: int
    """Sub-tokens that are tried in each slot."""
    sharpness: float
    """How much nearness to the context counts: cosines are multiplied by it before they become probabilities."""
    prior: float
    """How much the frequency of a sub-token counts: 0 = only nearness does, 1 = as much as if nothing were near."""


class Filler:
    """Made of a project's files."""

    def __init__(
        self, files: Sequence[Lines], classify: Callable[[str], Class], predicted: Callable[[str], bool]
    ) -> None:
        self._classify = classify
        tokens = Counter(token for file in files for line in file for token in line)
        self._kinds = {token: classify(token) for token in tokens}
        self._parts = Parts(tokens, self._kinds)
        shapes = {token: self._parts.pattern(token, kind) for token, kind in self._kinds.items() if predicted(token)}
        self._everywhere: Counter[Pattern] = Counter()
        self._after: dict[str, Counter[Pattern]] = defaultdict(Counter)
        self._before: dict[str, Counter[Pattern]] = defaultdict(Counter)
        for file in files:
            for line in file:
                for left, token, right in zip(["", *line], line, [*line[1:], ""], strict=False):
                    if shape := shapes.get(token):
                        self._everywhere[shape] += 1
                        self._after[left][shape] += 1
                        self._before[right][shape] += 1
        self._embedding: Embedding | None = None
        self._of_part: dict[str, NDArray[np.intp]] = {}

    def units_of(self, lines: Lines) -> list[str]:
        """What is embedded of a file."""
        kinds = self._kinds
        return [unit for line in lines for token in line for unit in units(token, kinds[token])]

    def embed(self, embedding: Embedding) -> None:
        """Use these vectors."""
        self._embedding = embedding
        by_part: dict[str, list[int]] = defaultdict(list)
        for place, unit in enumerate(embedding.units):
            by_part[self._parts.of(unit)].append(place)
        self._of_part = {part: np.array(places) for part, places in by_part.items()}

    def context(self, left: Sequence[str], right: Sequence[str]) -> Vectors:
        """The average of the sub-tokens around a place; `left` and `right`: the nearest token first. Of two tokens, the
        one twice as far counts half."""
        assert self._embedding
        weighed = [
            (unit, 1 / distance)
            for side in (left, right)
            for distance, token in enumerate(side, 1)
            for unit in units(token, self._classify(token))
        ]
        return self._embedding.average(weighed)

    def filled(self, left: Sequence[str], right: Sequence[str] | None, wanted: Filling) -> list[str]:
        """Tokens that may stand there, the likeliest first. `right`: None where nothing is known of it."""
        assert self._embedding
        near = self._embedding.vectors @ self.context(left, right or ())
        best: dict[str, float] = {}
        choices: dict[str, list[tuple[str, float]]] = {}
        for pattern, chance in self._likely_patterns(left, right, wanted.patterns):
            for part in slots(pattern):
                if part not in choices:
                    choices[part] = self._choices(part, near, wanted)
            for token, score in _ways(pattern, choices):
                best[token] = max(best.get(token, -np.inf), score + chance)
        return sorted(best, key=lambda token: -best[token])

    def _likely_patterns(
        self, left: Sequence[str], right: Sequence[str] | None, number: int
    ) -> list[tuple[Pattern, float]]:
        """With the logarithm of their probability."""
        whole = max(self._everywhere.total(), 1)
        sides: list[Mapping[Pattern, int]] = [self._after.get(left[0] if left else "", Counter())]
        if right is not None:
            sides.append(self._before.get(right[0] if right else "", Counter()))
        found: dict[Pattern, float] = {}
        totals = [sum(side.values()) for side in sides]
        common = [pattern for pattern, _ in self._everywhere.most_common(number)]
        for pattern in dict.fromkeys([*(each for side in sides for each in side), *common]):
            share = self._everywhere[pattern] / whole
            chance = np.log(share)
            for side, total in zip(sides, totals, strict=True):
                chance += np.log((side.get(pattern, 0) + NEIGHBOUR * share) / (total + NEIGHBOUR) / share)
            found[pattern] = float(chance)
        return sorted(found.items(), key=lambda each: -each[1])[:number]

    def _choices(self, part: str, near: Vectors, wanted: Filling) -> list[tuple[str, float]]:
        """The sub-tokens of a part that fit best, with the logarithms of their probabilities."""
        assert self._embedding
        places = self._of_part.get(part)
        if places is None:
            return []
        scores = wanted.sharpness * near[places] + wanted.prior * np.log(self._embedding.counts[places])
        chances = scores - np.logaddexp.reduce(scores)
        order = np.argsort(-chances, kind="stable")[: wanted.slot]
        return [(self._embedding.units[places[each]], float(chances[each])) for each in order]


def _ways(pattern: Pattern, choices: Mapping[str, Sequence[tuple[str, float]]]) -> Iterator[tuple[str, float]]:
    """The tokens that the pattern can become, each with the sum of its scores; no sub-token twice in one."""
    parts = slots(pattern)
    if len(parts) > MOST_SLOTS:
        return
    for chosen in islice(product(*(choices[part] for part in parts)), COMBINATIONS):
        found = [unit for unit, _ in chosen]
        if len(set(found)) == len(found):
            yield written(pattern, found), sum(score for _, score in chosen)
