"""Query cases: pairs of states of an object usage, of which the later has new calls. Four strategies make queries from
a case: REAL uses the earlier state, others the later state. Proposed calls are compared with expected calls."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import combinations
from math import comb
from typing import Literal

import msgspec
from msgspec.structs import replace

from ci_eval.core.base.chance import draw
from ci_eval.core.model import Definition, Evolution, Goal, History, ObjectUsage, Scenario, SessionScore, StrategyName

Fate = Literal["evaluated", "only removals", "unchanged"]

SCENARIOS: tuple[Scenario, ...] = ("NEW", "0|1", "0|2+", "1|2", "N|3+", "M-1|M")
EVOLUTIONS: tuple[Evolution, ...] = ("NEW", "0", "-M", "dD", "-M+dD")


class QueryCase(msgspec.Struct, frozen=True, dict=True):
    """A start state, about which a recommender is asked, and the end state whose calls it should propose."""

    history: History
    number: int
    """The index of `start` in the states of the history."""
    start: ObjectUsage | None
    end: ObjectUsage | None
    goal: int

    @cached_property
    def before(self) -> tuple[str, ...]:
        return distinct_calls(self.start)

    @cached_property
    def after(self) -> tuple[str, ...]:
        return distinct_calls(self.end)

    @cached_property
    def kept(self) -> tuple[str, ...]:
        return tuple(call for call in self.after if call in set(self.before))

    @property
    def removed(self) -> int:
        return len(self.before) - len(self.kept)

    @property
    def added(self) -> int:
        return len(self.after) - len(self.kept)

    @property
    def label(self) -> str:
        """Return the numbers of calls at the start, removed and added, such as `3-2+1`, without `-0` and `+0`."""
        removed, added = f"-{self.removed}" if self.removed else "", f"+{self.added}" if self.added else ""
        return f"{len(self.before)}{removed}{added}"

    @property
    def next_calls(self) -> tuple[str, ...]:
        calls = distinct_calls(self.history.states[self.number + 1])
        return tuple(call for call in calls if call not in self.before)

    @property
    def fate(self) -> Fate:
        return "evaluated" if self.added else "only removals" if self.removed else "unchanged"

    @property
    def scenario(self) -> Scenario:
        return scenario(len(self.kept), len(self.after), new=self.start is None)

    @property
    def evolution(self) -> Evolution:
        if self.start is None:
            return "NEW"
        changed = self.start.definition != (self.end.definition if self.end else Definition())
        return ("-M+dD" if changed else "-M") if self.removed else ("dD" if changed else "0")

    @property
    def identity(self) -> str:
        """Return a text that identifies the case, and is the same in every run."""
        of = self.history
        return "\0".join((of.project, of.file, of.user, of.type, of.method, str(self.number)))


def scenario(kept: int, goal: int, *, new: bool) -> Scenario:
    """Return the scenario, named `N|M` for N kept calls and M calls at the end (`goal`). `new`: the start is empty."""
    if new:
        return "NEW"
    if kept == 0:
        return "0|1" if goal == 1 else "0|2+"
    if kept == goal - 1:
        return "1|2" if goal == 2 else "M-1|M"
    return "N|3+"


def coarse(fine: Scenario) -> str:
    """Return which of 0|M, N|M and M-1|M includes a scenario. As in the paper, 0|M includes 0|1; N|M includes 1|2."""
    return "0|M" if fine in {"NEW", "0|1", "0|2+"} else "N|M" if fine in {"1|2", "N|3+"} else "M-1|M"


def check_names(names: Iterable[str]) -> None:
    for name in names:
        if name != name.strip() or len(name.splitlines()) != 1 or not name.isprintable():
            raise ValueError(f"{name!r} is not the name of a type or method: names are not empty, and have one line")


def distinct_calls(usage: ObjectUsage | None) -> tuple[str, ...]:
    return tuple(dict.fromkeys(usage.calls)) if usage else ()


def generate_cases(history: History, goal: Goal) -> Iterator[QueryCase]:
    """Yield a case for each state of a history but the last, even if no call was added. `goal`: the state that ends a
    case: the last one, the last one that is not empty (later states are ignored), or the one after the start."""
    states = list(history.states)
    # In histories from Git, the last states are empty if the code moved to another file.
    if goal == "last_nonempty":
        while states and states[-1] is None:
            states.pop()
    for number, start in enumerate(states[:-1]):
        end = number + 1 if goal == "next" else len(states) - 1
        yield QueryCase(history, number, start, states[end], end)


class Sampling(msgspec.Struct, frozen=True, kw_only=True):
    """The settings by which random queries are drawn. A draw depends only on the seed and the case."""

    seed: int = 0
    subsets: int = 20
    dropped: float = 0.0
    """The share of the cases whose artificial queries have an unknown definition."""
    replaced: float = 0.0
    """The share of the cases whose artificial queries have the definition of another object of the same type."""
    definitions: Mapping[str, Sequence[Definition]] = msgspec.field(default_factory=dict)
    """Type → distinct definitions, always in the same order."""


def at_random(case: QueryCase, sampling: Sampling) -> list[ObjectUsage]:
    """Return a query for each subset of the end's calls that has as many calls as `kept`, or for a sample of these."""
    calls, size = case.after, len(case.kept)
    subsets: dict[tuple[str, ...], None] = {}
    if comb(len(calls), size) <= sampling.subsets:
        subsets = dict.fromkeys(combinations(calls, size))
    turn = 0
    # This loop runs only if there are more subsets than `sampling.subsets`, so it always finds enough.
    while len(subsets) < min(sampling.subsets, comb(len(calls), size)):
        chances = [draw(sampling.seed, f"subset\0{turn}\0{call}\0{case.identity}") for call in calls]
        chosen = sorted(range(len(calls)), key=chances.__getitem__)[:size]
        # The calls of a subset are in the order of the source.
        subsets[tuple(calls[place] for place in sorted(chosen))] = None
        turn += 1
    return [_artificial(case, sampling, subset) for subset in subsets]


def real(case: QueryCase, _sampling: Sampling) -> list[ObjectUsage]:
    """Return the start as the query. If the start is empty, the query has only a type and a method."""
    empty = ObjectUsage(type=case.history.type, method=case.history.method)
    return [replace(case.start, calls=case.before) if case.start else empty]


STRATEGIES: Mapping[StrategyName, Callable[[QueryCase, Sampling], list[ObjectUsage]]] = {
    # The query has the first calls of the end, as many as `kept` has, since code is written from top to bottom.
    "LINEAR": lambda case, sampling: [_artificial(case, sampling, case.after[: len(case.kept)])],
    "RANDOM": at_random,
    # The query has those calls of the end that the start also has.
    "REAL*": lambda case, sampling: [_artificial(case, sampling, case.kept)],
    "REAL": real,
}


def is_drawn(case: QueryCase, name: StrategyName, sampling: Sampling) -> bool:
    """Return whether the strategy's queries depend on the seed."""
    redefined = name != "REAL" and (0 < sampling.dropped < 1 or sampling.replaced > 0)
    return redefined or (name == "RANDOM" and comb(len(case.after), len(case.kept)) > sampling.subsets)


def missing_calls(query: ObjectUsage, case: QueryCase) -> tuple[str, ...]:
    return tuple(call for call in case.after if call not in set(query.calls))


def _artificial(case: QueryCase, sampling: Sampling, calls: tuple[str, ...]) -> ObjectUsage:
    """Return the end with `calls` in place of its calls. `sampling` may remove or replace the definition."""
    # Cases without an end add no call, so they are not evaluated.
    assert case.end
    definition = case.end.definition
    drawn = draw(sampling.seed, f"definition\0{case.identity}")
    others = [other for other in sampling.definitions.get(case.history.type, ()) if other != definition]
    if drawn < sampling.dropped:
        definition = Definition()
    elif drawn < sampling.dropped + sampling.replaced and others:
        definition = others[int(draw(sampling.seed, f"which definition\0{case.identity}") * len(others))]
    return replace(case.end, definition=definition, calls=calls)


RECALL_AT = (1, 3, 5, 10)
"""The lengths of lists for which recall is reported."""


def agreement(proposed: Sequence[str], expected: Collection[str]) -> dict[str, float]:
    """Return precision, recall and F1 of the proposals (the best first), and the grades of `grade_ranking`. Precision
    is 1 if nothing is proposed, recall is 1 if nothing is expected, and F1 is 0 if both are 0."""
    hits, goal = _hits(proposed, expected)
    precision, recall = sum(hits) / len(hits) if hits else 1.0, _recall(hits, goal, len(hits))
    f1 = 2 * precision * recall / (precision + recall) if precision + recall else 0.0
    return {"f1": f1, "precision": precision, "recall": recall, **grade_ranking(proposed, expected)}


def grade_ranking(proposed: Sequence[str], expected: Collection[str]) -> dict[str, float]:
    """Return the grades that depend on the order of the proposals, but not on their number. For n expected calls,
    `rPrecision` is the share of expected calls among the first n proposals. `recall.K` is the share of the expected
    calls that are among the first K. `reciprocalRank` is that of the first expected call; 0 if there is none."""
    hits, goal = _hits(proposed, expected)
    first = next((rank for rank, hit in enumerate(hits, 1) if hit), None)
    return {
        "rPrecision": _recall(hits, goal, len(goal)),
        "reciprocalRank": 1 / first if first else 0.0,
        **{f"recall.{most}": _recall(hits, goal, most) for most in RECALL_AT},
    }


def _hits(proposed: Sequence[str], expected: Collection[str]) -> tuple[list[bool], set[str]]:
    goal = set(expected)
    # A call that is proposed several times counts once.
    return [call in goal for call in dict.fromkeys(proposed)], goal


def _recall(hits: Sequence[bool], goal: Collection[str], most: int) -> float:
    return sum(hits[:most]) / len(goal) if goal else 1.0


def has_end(session: SessionScore) -> bool:
    """Return whether precision and F1 apply. They need a chosen set of calls, which a completion list is not."""
    return not session.at_caret


NEXT = ".next"
"""The suffix of the names of grades for which the calls of the next state are expected."""


def grade_of_next(session: SessionScore) -> float | None:
    """Return the grade of the first lookup for the next state: F1, or R-precision; None if that state adds no call."""
    grades = session.lookups[0].grades if session.lookups else None
    return (grades or {}).get(("f1" if has_end(session) else "rPrecision") + NEXT)
