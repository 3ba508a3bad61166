"""The tokens that fit into a context, by vectors of sub-tokens: first a pattern of parts, then a sub-token for each
part."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice, product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ci_eval.plugins.learning.code import Class
from ci_eval.plugins.learning.embedding import Embedding, Vectors
from ci_eval.plugins.learning.naming import Parts, Pattern, fill_pattern, slots, units

Lines = Sequence[Sequence[str]]
"""The tokens of a file, line by line."""

NEIGHBOUR = 5.0
"""Tokens after which a pattern's frequency next to one token counts as much as its frequency anywhere."""
NEVER = -20.0
"""The logarithm of how likely a sub-token is that has no vector."""
NO_PLACES: NDArray[np.intp] = np.empty(0, dtype=np.intp)
MOST_SLOTS = 6
COMBINATIONS = 64
"""The most fillings of one pattern that are tried."""


@dataclass(frozen=True, kw_only=True)
class Filling:
    """The parameters that control filling."""

    patterns: int
    """Number of the most frequent patterns that are filled."""
    slot: int
    """Number of sub-tokens that are tried in each slot."""
    sharpness: float
    """Weight of nearness to the context: cosines are multiplied by it before they become probabilities."""
    prior: float
    """Weight of the frequency of a sub-token, from 0 (only nearness counts) to 1 (as if nothing were near)."""


class Filler:
    """A model of a project's patterns and sub-tokens, which fills gaps in code."""

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

    def vector_units(self, lines: Lines) -> list[str]:
        """Return the units of a file that get vectors."""
        kinds = self._kinds
        return [unit for line in lines for token in line for unit in units(token, kinds[token])]

    def embed(self, embedding: Embedding) -> None:
        """Use the vectors of an embedding."""
        self._embedding = embedding
        by_part: dict[str, list[int]] = defaultdict(list)
        for place, unit in enumerate(embedding.units):
            by_part[self._parts.of(unit)].append(place)
        self._of_part = {part: np.array(places) for part, places in by_part.items()}

    def context(self, left: Sequence[str], right: Sequence[str]) -> Vectors:
        """Return the average of the sub-tokens around a gap. `left` and `right` have the nearest token first. Of two
        tokens, the one twice as far counts half."""
        assert self._embedding
        weighed = [
            (unit, 1 / distance)
            for side in (left, right)
            for distance, token in enumerate(side, 1)
            for unit in units(token, self._classify(token))
        ]
        return self._embedding.average(weighed)

    def filled(self, left: Sequence[str], right: Sequence[str] | None, filling: Filling) -> list[str]:
        """Return tokens that may stand at the gap, the likeliest first. `right` is None if the text behind is not
        known."""
        assert self._embedding
        near = self._embedding.vectors @ self.context(left, right or ())
        best: dict[str, float] = {}
        choices: dict[str, list[tuple[str, float]]] = {}
        for pattern, chance in self._likely_patterns(left, right, filling.patterns):
            for part in slots(pattern):
                if part not in choices:
                    choices[part] = self._choices(part, near, filling)
            for token, score in _fillings(pattern, choices):
                best[token] = max(best.get(token, -np.inf), score + chance)
        return sorted(best, key=lambda token: -best[token])

    def scores(
        self, left: Sequence[str], right: Sequence[str] | None, tokens: Sequence[str], filling: Filling
    ) -> list[float]:
        """Return how well each token fits: the logarithm of its pattern's probability plus those of its sub-tokens in
        their slots."""
        assert self._embedding
        near = self._embedding.vectors @ self.context(left, right or ())
        beside = self._beside(left, right)
        chances = lru_cache(maxsize=None)(lambda part: self._chances(part, near, filling))
        scores = []
        for token in tokens:
            kind = self._classify(token)
            pattern = self._parts.pattern(token, kind)
            score = self._chance(pattern, beside)
            for unit in units(token, kind):
                places, part_chances = chances(self._parts.of(unit))
                place = self._embedding.places.get(unit)
                score += NEVER if place is None else float(part_chances[np.searchsorted(places, place)])
            scores.append(score)
        return scores

    def _likely_patterns(
        self, left: Sequence[str], right: Sequence[str] | None, number: int
    ) -> list[tuple[Pattern, float]]:
        """Return the likeliest patterns, with the logarithms of their probabilities."""
        beside = self._beside(left, right)
        common = [pattern for pattern, _ in self._everywhere.most_common(number)]
        # A dict keeps the order, which decides between equal patterns; a set has none.
        seen = dict.fromkeys([*(pattern for side, _ in beside for pattern in side), *common])
        return sorted(
            ((pattern, self._chance(pattern, beside)) for pattern in seen),
            key=lambda scored_pattern: -scored_pattern[1],
        )[:number]

    def _beside(self, left: Sequence[str], right: Sequence[str] | None) -> list[tuple[Mapping[Pattern, int], int]]:
        """Return the patterns next to the token on each side, and the number of them."""
        sides: list[Mapping[Pattern, int]] = [self._after.get(left[0] if left else "", Counter())]
        if right is not None:
            sides.append(self._before.get(right[0] if right else "", Counter()))
        return [(side, sum(side.values())) for side in sides]

    def _chance(self, pattern: Pattern, beside: Sequence[tuple[Mapping[Pattern, int], int]]) -> float:
        """Return the logarithm of a pattern's probability. A pattern never seen is half as likely as one that was seen
        once."""
        share = (self._everywhere[pattern] or 0.5) / max(self._everywhere.total(), 1)
        chance = np.log(share)
        for side, total in beside:
            chance += np.log((side.get(pattern, 0) + NEIGHBOUR * share) / (total + NEIGHBOUR) / share)
        return float(chance)

    def _choices(self, part: str, near: Vectors, filling: Filling) -> list[tuple[str, float]]:
        """Return the sub-tokens of a part that fit best, with the logarithms of their probabilities."""
        assert self._embedding
        places, chances = self._chances(part, near, filling)
        order = np.argsort(-chances, kind="stable")[: filling.slot]
        return [(self._embedding.units[places[position]], float(chances[position])) for position in order]

    def _chances(
        self, part: str, near: Vectors, filling: Filling
    ) -> tuple[NDArray[np.intp], NDArray[np.floating[Any]]]:
        """Return the positions of the sub-tokens of a part, sorted, and the logarithms of their probabilities."""
        assert self._embedding
        places = self._of_part.get(part, NO_PLACES)
        scores = filling.sharpness * near[places] + filling.prior * np.log(self._embedding.counts[places])
        return places, scores - np.logaddexp.reduce(scores) if len(scores) else scores


def _fillings(pattern: Pattern, choices: Mapping[str, Sequence[tuple[str, float]]]) -> Iterator[tuple[str, float]]:
    """Yield the tokens that the pattern can become, each with the sum of its scores. No token holds a sub-token
    twice."""
    parts = slots(pattern)
    if len(parts) > MOST_SLOTS:
        return
    for chosen in islice(product(*(choices[part] for part in parts)), COMBINATIONS):
        chosen_units = [unit for unit, _ in chosen]
        if len(set(chosen_units)) == len(chosen_units):
            yield fill_pattern(pattern, chosen_units), sum(score for _, score in chosen)
