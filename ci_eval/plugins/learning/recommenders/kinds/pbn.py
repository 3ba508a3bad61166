"""The recommender PBN, a Bayesian network of usage patterns.

Proksch, Lerch & Mezini, "Intelligent code completion with Bayesian networks" (TOSEM 2015). The root of the network is
the pattern, a hidden variable. Given the pattern, slots and calls are independent, so probabilities have a closed form.
"""

from __future__ import annotations

from collections import Counter
from math import sqrt
from typing import Annotated

import numpy as np
from msgspec import Meta

from ci_eval.plugins.learning.recommenders import model as contract
from ci_eval.plugins.learning.recommenders.model import Floats, Ints, Known, Scores, TypeModel, TypeUsages

DIGITS = 6


class PbnOptions(contract.TrainingOptions, frozen=True, kw_only=True):
    """The options. The defaults are the paper's PBN(10)."""

    t1: Annotated[float, Meta(gt=0, le=1)] = 0.101
    """The distance to a pattern's centre below which usages belong to the pattern."""
    t2: Annotated[float, Meta(gt=0, le=1)] = 0.10
    """The distance to a pattern's centre below which usages belong to no later pattern."""
    smoothing: Annotated[float, Meta(gt=0, lt=0.5)] = 1e-6
    """The least probability of anything."""

    def __post_init__(self) -> None:
        if self.t2 > self.t1:
            raise ValueError(f"t2 is {self.t2:g}, above t1, which is {self.t1:g}: choose a t2 up to t1")


def train(usages: TypeUsages, options: PbnOptions) -> contract.Arrays:
    """Return four arrays. `members`: the usages of each pattern. `patterns`: for each feature (call or value), the
    patterns with the feature. `counts`: their usages with the feature. `starts`: where the features begin."""
    call_sets = [tuple(row.tolist()) for row in np.split(usages.flat, usages.starts[1:-1])]
    totals = Counter[tuple[int, ...]]()
    for call_set, count in zip(call_sets, usages.counts.tolist(), strict=True):
        totals[call_set] += count
    # The first sets become the centres of canopies, so the most frequent sets come first.
    order = sorted(totals, key=lambda call_set: (-totals[call_set], call_set))
    number = {call_set: place for place, call_set in enumerate(order)}
    set_of_row = np.array([number[call_set] for call_set in call_sets])
    starts = np.cumsum([0, *map(len, order)])
    pattern, member = canopies(starts, np.array([call for row in order for call in row]), options.t1, options.t2)
    rows = np.argsort(set_of_row, kind="stable")
    at, owner = contract.part(np.searchsorted(set_of_row[rows], np.arange(len(starts))), member)
    row, pattern_of_row = rows[at], pattern[owner]
    counts_of_row = usages.counts[row]
    at, owner = contract.part(usages.starts, row)
    features, patterns, counts = [usages.flat[at]], [pattern_of_row[owner]], [counts_of_row[owner]]
    first = len(usages.calls)
    for slot, values in enumerate(usages.values):
        value = usages.contexts[row, slot]
        present = value >= 0
        features.append(first + value[present])
        patterns.append(pattern_of_row[present])
        counts.append(counts_of_row[present])
        first += len(values)
    size = int(pattern.max(initial=-1)) + 1
    key, place = np.unique(np.concatenate(features) * size + np.concatenate(patterns), return_inverse=True)
    return {
        "members": np.bincount(pattern_of_row, weights=counts_of_row, minlength=size).astype(np.int64),
        "starts": np.searchsorted(key, np.arange(first + 1) * size),
        "patterns": key % max(size, 1),
        "counts": np.bincount(place, weights=np.concatenate(counts), minlength=len(key)).astype(np.int64),
    }


class Network:
    def __init__(self, model: TypeModel, options: PbnOptions) -> None:
        self._model = model
        self._least = options.smoothing
        self._members = model.numbers("members", least=1)
        self._patterns = model.numbers("patterns", below=len(self._members))
        self._starts = model.starts("starts", of=len(self._patterns))
        counts = model.numbers("counts", least=1)
        contract.require(len(self._starts) == model.features + 1, "its arrays do not match its features")
        contract.require(len(counts) == len(self._patterns), "its counts do not match its patterns")
        self._shares = np.round(counts / self._members[self._patterns], DIGITS)
        self._prior = np.log(self._members / self._members.sum()) if len(self._members) else np.empty(0)
        self._calls = np.repeat(np.arange(len(model.calls)), np.diff(self._starts)[: len(model.calls)])
        end = self._starts[len(model.calls)]
        self._of_calls = self._patterns[:end]
        self._beyond = np.clip(self._shares[:end], self._least, 1 - self._least) - self._least

    def posterior(self, known: Known) -> Floats:
        """Return the probability of each pattern given the query. Calls that the query lacks do not count."""
        logarithms = self._prior.copy()
        calls = known.calls.tolist()
        features = [self._model.feature(slot, value) for slot, value in enumerate(known.contexts) if value >= 0]
        for feature in [*calls, *features]:
            at = slice(self._starts[feature], self._starts[feature + 1])
            shares = self._shares[at]
            is_call = feature < len(self._model.calls)
            shares = np.clip(shares, self._least, 1 - self._least) if is_call else shares + self._least
            # A factor that all patterns share cancels out, so change only the weights of patterns with the feature.
            logarithms[self._patterns[at]] += np.log(shares / self._least)
        # Shift the logarithms so that the greatest one is 0: otherwise all weights might underflow to 0.
        weights = np.exp(logarithms - logarithms.max(initial=-np.inf))
        return np.asarray(weights / weights.sum())

    def __call__(self, known: Known) -> Scores:
        weights = self.posterior(known)[self._of_calls] * self._beyond
        probabilities = self._least + np.bincount(self._calls, weights=weights, minlength=len(self._model.calls))
        return Scores(scores=np.round(probabilities, DIGITS))


RECOMMENDER = contract.Recommender(
    name="pbn",
    summary="patterns of usages in a Bayesian network (Proksch, Lerch & Mezini 2015)",
    options=PbnOptions,
    train=train,
    open=Network,
)


def canopies(starts: Ints, flat: Ints, t1: float, t2: float) -> tuple[Ints, Ints]:
    """Return canopies of distinct, non-empty sets of small numbers, as two parallel arrays: canopy and member.

    The centre of a canopy is the first remaining set. Sets nearer than `t1` belong to the canopy; sets nearer than `t2`
    no longer remain. A set may belong to several canopies. `starts`: the beginning of each set in `flat`, and the end
    of the last set. Requires 0 < t2 <= t1 <= 1.
    """
    sizes = np.diff(starts)
    places = {int(size): np.flatnonzero(sizes == size) for size in np.unique(sizes)}
    rows = {size: flat[starts[of][:, None] + np.arange(size)] for size, of in places.items()}
    # Sets of very different sizes cannot be near each other, so do not compare them.
    near = {
        size: [near for near in places if 1 - (size - 1 if size == near else min(size, near)) / sqrt(size * near) < t1]
        for size in places
    }
    left = np.ones(len(sizes), dtype=bool)
    mask = np.zeros(int(flat.max(initial=-1)) + 1, dtype=bool)
    members: list[Ints] = []
    for centre in range(len(sizes)):
        if not left[centre]:
            continue
        own = flat[starts[centre] : starts[centre + 1]]
        mask[own] = True
        parts = [np.array([centre])]
        left[centre] = False
        for size in near[len(own)]:
            open_ = np.flatnonzero(left[places[size]])
            distance = 1 - mask[rows[size][open_]].sum(axis=1) / sqrt(len(own) * size)
            parts.append(places[size][open_[distance < t1]])
            left[places[size][open_[distance < t2]]] = False
        mask[own] = False
        members.append(np.sort(np.concatenate(parts)))
    lengths = [len(canopy) for canopy in members]
    return np.repeat(np.arange(len(members)), lengths), np.concatenate([*members, np.empty(0, dtype=np.int64)])
