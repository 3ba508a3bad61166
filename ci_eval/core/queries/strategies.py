"""The strategies that turn a query case into queries: one as the code was, three made from the end."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from math import comb

from msgspec.structs import replace

from ci_eval.core.base.chance import draw
from ci_eval.core.model import Definition, ObjectUsage
from ci_eval.core.model.settings import StrategyName
from ci_eval.core.queries.cases import QueryCase, usage_definition


@dataclass(frozen=True, kw_only=True)
class Sampling:
    """The settings of sampling. Samples depend on the seed and the case alone."""

    seed: int = 0
    subsets: int = 20
    """The most queries of RANDOM. If there are more subsets, so many are sampled."""
    dropped: float = 0.0
    """Share of the cases whose artificial queries do not know the definition."""
    replaced: float = 0.0
    """Share of the cases whose artificial queries have another definition, one that objects of that type do have."""
    definitions: Mapping[str, Sequence[Definition]] = field(default_factory=dict)
    """Type → its definitions, each once, always in the same order."""


def linear(case: QueryCase, sampling: Sampling) -> list[ObjectUsage]:
    """Return the end with its first calls alone, as many as were kept: code is written from top to bottom."""
    return [_artificial(case, sampling, case.after[: len(case.kept)])]


def at_random(case: QueryCase, sampling: Sampling) -> list[ObjectUsage]:
    """Return all subsets of the end's calls of the right size as queries, or a sample of these subsets."""
    return [_artificial(case, sampling, calls) for calls in _subsets(case, sampling)]


def real_without_noise(case: QueryCase, sampling: Sampling) -> list[ObjectUsage]:
    """Return the end with the kept calls alone."""
    return [_artificial(case, sampling, case.kept)]


def real(case: QueryCase, _sampling: Sampling) -> list[ObjectUsage]:
    """Return the start as it was. If it is empty, the query has nothing but the type and the method."""
    empty = ObjectUsage(type=case.history.type, method=case.history.method)
    return [replace(case.start, calls=case.before) if case.start else empty]


STRATEGIES: Mapping[StrategyName, Callable[[QueryCase, Sampling], list[ObjectUsage]]] = {
    "LINEAR": linear,
    "RANDOM": at_random,
    "REAL*": real_without_noise,
    "REAL": real,
}


def is_drawn(case: QueryCase, name: StrategyName, sampling: Sampling) -> bool:
    """Return whether the queries that the strategy makes of the case depend on the seed."""
    redefined = name != "REAL" and (0 < sampling.dropped < 1 or sampling.replaced > 0)
    return redefined or (name == "RANDOM" and comb(len(case.after), len(case.kept)) > sampling.subsets)


def missing_calls(query: ObjectUsage, case: QueryCase) -> tuple[str, ...]:
    return tuple(call for call in case.after if call not in set(query.calls))


def _artificial(case: QueryCase, sampling: Sampling, calls: tuple[str, ...]) -> ObjectUsage:
    # Only cases that have an end are evaluated.
    assert case.end
    return replace(case.end, definition=_definition(case, sampling), calls=calls)


def _definition(case: QueryCase, sampling: Sampling) -> Definition:
    """Return the end's definition, unless sampling gives this case none or another one."""
    own = usage_definition(case.end)
    drawn = draw(sampling.seed, f"definition\0{case.identity}")
    if drawn < sampling.dropped:
        return Definition()
    others = [definition for definition in sampling.definitions.get(case.history.type, ()) if definition != own]
    if drawn < sampling.dropped + sampling.replaced and others:
        return others[int(draw(sampling.seed, f"which definition\0{case.identity}") * len(others))]
    return own


def _subsets(case: QueryCase, sampling: Sampling) -> list[tuple[str, ...]]:
    """Return subsets of the end's calls, each in the order of the source."""
    calls, size = case.after, len(case.kept)
    if comb(len(calls), size) <= sampling.subsets:
        return list(combinations(calls, size))
    subsets: dict[tuple[int, ...], None] = {}
    turn = 0
    # There are more subsets than are sampled, so the loop ends.
    while len(subsets) < sampling.subsets:
        chances = [draw(sampling.seed, f"subset\0{turn}\0{call}\0{case.identity}") for call in calls]
        chosen = sorted(range(len(calls)), key=chances.__getitem__)[:size]
        subsets[tuple(sorted(chosen))] = None
        turn += 1
    return [tuple(calls[place] for place in places) for places in subsets]
