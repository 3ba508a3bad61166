"""What a recommender is told of a query case: one strategy as the code was, three made of what it became."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from math import comb

from msgspec.structs import replace

from ci_eval.chance import draw
from ci_eval.model import Definition, ObjectUsage
from ci_eval.model.settings import StrategyName
from ci_eval.queries.cases import QueryCase, definition_of


@dataclass(frozen=True, kw_only=True)
class Sampling:
    """What is drawn where there is a choice; the same for the same seed and case, whatever else is asked."""

    seed: int = 0
    subsets: int = 20
    """The most queries of RANDOM; where there are more subsets, so many are drawn."""
    dropped: float = 0.0
    """Share of the cases whose artificial queries do not know the definition."""
    replaced: float = 0.0
    """Share of the cases whose artificial queries have another definition, one that objects of that type do have."""
    definitions: Mapping[str, Sequence[Definition]] = field(default_factory=dict)
    """Type → its definitions, each once, always in the same order."""


def linear(case: QueryCase, sampling: Sampling) -> list[ObjectUsage]:
    """The first calls of the end, as many as were there and stayed: code is written from top to bottom."""
    return [_artificial(case, sampling, case.after[: len(case.kept)])]


def at_random(case: QueryCase, sampling: Sampling) -> list[ObjectUsage]:
    """Every choice of so many calls of the end, or a sample of these choices."""
    return [_artificial(case, sampling, calls) for calls in _subsets(case, sampling)]


def real_without_noise(case: QueryCase, sampling: Sampling) -> list[ObjectUsage]:
    """The calls that were there and stayed, in what surrounds them at the end."""
    return [_artificial(case, sampling, case.kept)]


def real(case: QueryCase, _sampling: Sampling) -> list[ObjectUsage]:
    """The start as it was; where it is empty, nothing but the type and the method."""
    empty = ObjectUsage(type=case.history.type, method=case.history.method)
    return [replace(case.start, calls=case.before) if case.start else empty]


STRATEGIES: Mapping[StrategyName, Callable[[QueryCase, Sampling], list[ObjectUsage]]] = {
    "LINEAR": linear,
    "RANDOM": at_random,
    "REAL*": real_without_noise,
    "REAL": real,
}


def expected(query: ObjectUsage, case: QueryCase) -> tuple[str, ...]:
    """The calls that the query lacks of the end: in an evaluated case there is one at least."""
    return tuple(call for call in case.after if call not in set(query.calls))


def _artificial(case: QueryCase, sampling: Sampling, calls: tuple[str, ...]) -> ObjectUsage:
    """The end with these calls alone. Only a case that has an end is evaluated."""
    assert case.end
    return replace(case.end, definition=_definition(case, sampling), calls=calls)


def _definition(case: QueryCase, sampling: Sampling) -> Definition:
    """That of the end, unless it is drawn that this case has none, or another one."""
    own = definition_of(case.end)
    drawn = draw(sampling.seed, f"definition\0{case.identity}")
    if drawn < sampling.dropped:
        return Definition()
    others = [each for each in sampling.definitions.get(case.history.type, ()) if each != own]
    if drawn < sampling.dropped + sampling.replaced and others:
        return others[int(draw(sampling.seed, f"which definition\0{case.identity}") * len(others))]
    return own


def _subsets(case: QueryCase, sampling: Sampling) -> list[tuple[str, ...]]:
    """In the order of the source."""
    calls, size = case.after, len(case.kept)
    if comb(len(calls), size) <= sampling.subsets:
        return list(combinations(calls, size))
    found: dict[tuple[int, ...], None] = {}
    turn = 0
    while len(found) < sampling.subsets:
        chances = [draw(sampling.seed, f"subset\0{turn}\0{call}\0{case.identity}") for call in calls]
        chosen = sorted(range(len(calls)), key=chances.__getitem__)[:size]
        found[tuple(sorted(chosen))] = None
        turn += 1
    return [tuple(calls[place] for place in places) for places in found]
