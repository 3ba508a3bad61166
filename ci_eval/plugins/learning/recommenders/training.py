"""The training of a recommender on usages, and the proposals of a trained one."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import msgspec
import numpy as np

from ci_eval.core.base.errors import ConfigError, NothingToEvaluate
from ci_eval.core.model import ObjectUsage
from ci_eval.plugins.learning import recommenders
from ci_eval.plugins.learning.recommenders.contract import Recommender, Scorer, TrainingOptions
from ci_eval.plugins.learning.recommenders.file import Facts, TypeNames, Writer, load
from ci_eval.plugins.learning.recommenders.reading import Collected, encode_usage


def parse_options(kind: Recommender, fields: Mapping[str, object]) -> TrainingOptions:
    """Return the options of training as a value of their type. Raises ConfigError."""
    try:
        return msgspec.convert(dict(fields), kind.options)
    except msgspec.ValidationError as error:
        known = ", ".join(msgspec.to_builtins(kind.options()))
        raise ConfigError(f"options of {kind.name}: {error}; known are {known}") from error


def train(
    kind: Recommender,
    sources: Sequence[Path],
    output: Path,
    options: TrainingOptions,
    advance: Callable[[Path], None] = lambda _: None,
) -> Collected:
    """Write the model, and return the usages that were read. `advance` receives each file before it is read.

    Raises ConfigError if a file cannot be read, NothingToEvaluate if there is nothing to learn from.
    """
    collected = Collected(options)
    for path in sources:
        advance(path)
        collected.read(path)
    writer = Writer()
    for usages in collected.types():
        names = TypeNames(
            name=usages.type, calls=list(usages.calls), values=[list(slot_values) for slot_values in usages.values]
        )
        writer.add(names, kind.train(usages, options))
    if not collected.count:
        first = f"; the first of {collected.bad:,} bad lines: {collected.named[0]}" if collected.named else ""
        raise NothingToEvaluate(f"there is no usage with a call to learn from among {collected.usages:,} usages{first}")
    facts = Facts(
        kind=kind.name,
        options=msgspec.to_builtins(options),
        usages=collected.usages,
        without_calls=collected.without_calls,
        bad=collected.bad,
        types=collected.count,
    )
    writer.save(facts, output)
    return collected


OPEN = 1000
"""Number of types that the cache holds."""


@dataclass(frozen=True)
class Proposal:
    """A method to call, and how likely that is, from 0 to 1."""

    call: str
    score: float


@dataclass(frozen=True)
class _Type:
    scorer: Scorer
    names: list[str]
    calls: dict[str, int]
    values: list[dict[str, int]]


class Trained:
    def __init__(self, path: Path) -> None:
        """Load a model. Raises ConfigError if the file is none."""
        self._stored = load(path)
        self.facts = self._stored.facts
        self.kind = recommenders.CATALOG.load(self.facts.kind)
        self.options = parse_options(self.kind, self.facts.options)
        self._type = lru_cache(OPEN)(self._open)

    @property
    def training_seed(self) -> int | None:
        """Return the seed by which usages were sampled; None if all were learnt from."""
        return self.options.seed if 0 < self.options.most_usages < self.facts.usages else None

    def _open(self, name: str) -> _Type | None:
        model = self._stored.type(name)
        if model is None:
            return None
        calls, *values = ({text: place for place, text in enumerate(of)} for of in (model.calls, *model.values))
        return _Type(self.kind.open(model, self.options), list(model.calls), calls, values)

    def knows(self, type_: str) -> bool:
        return self._type(type_) is not None

    def proposals(
        self, query: ObjectUsage, *, threshold: float | None = None, unknown_definition: bool = True
    ) -> list[Proposal]:
        """Return the calls whose scores reach the threshold (None: the usual one of its kind), the likeliest first,
        without those of the query. The list is empty if the type is not known.

        `unknown_definition` says whether an unknown definition is evidence. Raises ConfigError if the model is damaged.
        """
        of = self._type(query.type)
        if of is None:
            return []
        known = encode_usage(query, of.calls, of.values, self.options, unknown=unknown_definition)
        scored = of.scorer(known)
        scores = scored.scores.copy()
        scores[known.calls] = -1.0
        least = self.kind.threshold if threshold is None else threshold
        reached = scores > least if self.kind.strict else scores >= least
        places = np.flatnonzero(reached & (scores > 0))
        ties = np.zeros(len(scores)) if scored.ties is None else scored.ties
        # Positions are in order of the names, which order equal scores and ties.
        order = np.lexsort((places, -ties[places], -scores[places]))
        return [Proposal(of.names[position], float(scores[position])) for position in places[order].tolist()]
