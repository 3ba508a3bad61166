"""The simulation of histories backwards from the usages of finished code, with the frequencies observed for people.

Calibrated to tables 3 and 5 of Proksch et al. (ASE 2016). Shows that an evaluation works, not what developers do.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import TypeVar

import msgspec
from msgspec.structs import replace

from ci_eval.core.base.chance import draw
from ci_eval.core.model import Definition, History, ObjectUsage
from ci_eval.plugins.mining.usages.histories import equal

CLASSES = {"NEW": 50.5, "0": 11.1, "-M": 16.4, "dD": 3.5, "-M+dD": 18.6}
"""Changes of the context between a query and its goal, in per cent of the queries (table 5)."""
ROWS = (
    (4327, 703, 592, 82, 13, 30),
    (0, 741, 109, 60, 3, 6),
    (0, 0, 252, 52, 15, 11),
    (0, 0, 0, 95, 19, 6),
    (0, 0, 0, 0, 19, 5),
    (0, 0, 0, 0, 0, 17),
)
"""Queries with N calls (a row each, the last one for 5 and more) of a goal with M (1 to 6 and more), of table 3."""
NEW_OF_NONE = 3612 / 5747
"""Share of the queries without calls whose usage was absent before; not published by M, so taken as equal."""
IN_ORDER = 0.7
"""Probability that calls are added in their order in the source. No published figure exists."""
ONE_MORE = 0.5
"""Probability that another wrong call follows each one: 1 + geometric. No published figure exists."""
T = TypeVar("T")


class _Seen(msgspec.Struct):
    calls: Counter[str] = msgspec.field(default_factory=Counter)
    definitions: Counter[Definition] = msgspec.field(default_factory=Counter)


def simulate(
    usages: Sequence[ObjectUsage], *, seed: int, skipped: Counter[str], in_order: float = IN_ORDER, steps: bool = False
) -> Iterator[History]:
    """Yield a history for each usage with calls: its start, and the usage. Equal usages and seed give equal histories.
    `steps` adds the states in between, whose mix of classes is not the paper's."""
    seen: dict[str, _Seen] = defaultdict(_Seen)
    for usage in usages:
        seen[usage.type].calls.update(usage.calls)
        seen[usage.type].definitions[usage.definition] += 1
    for number, usage in enumerate(usages, 1):
        if not usage.calls:
            skipped["usage without any call"] += 1
            continue
        states = _Simulation(usage, seen[usage.type], f"{number}", seed, in_order).states(skipped)
        chosen = states if steps else [states[0], states[-1]]
        changes = [state for i, state in enumerate(chosen) if i == 0 or not equal(state, chosen[i - 1])]
        yield History(file=f"usage {number}", type=usage.type, method=usage.method, states=tuple(changes))


class _Simulation(msgspec.Struct, frozen=True):
    end: ObjectUsage
    seen: _Seen
    identity: str
    seed: int
    in_order: float

    def draw(self, what: str) -> float:
        return draw(self.seed, f"{self.identity}\0{what}")

    def choose(self, weights: Mapping[T, float], what: str) -> T:
        at = self.draw(what) * sum(weights.values())
        for key, weight in weights.items():
            at -= weight
            if at < 0:
                return key
        # By rounding, the weights may add up to less than the number.
        return list(weights)[-1]

    def states(self, skipped: Counter[str]) -> list[ObjectUsage | None]:
        class_ = self.choose(CLASSES, "class")
        calls = list(self.end.calls)
        order = calls if self.draw("order") < self.in_order else sorted(calls, key=lambda call: self.draw(f"at {call}"))
        if class_ == "NEW":
            return [None, *self._grown(order, 0, self.end.definition)]
        count = self._count()
        wrong = self._wrong() if "-M" in class_ else []
        seen = self.seen.definitions if "dD" in class_ else {}
        others = {known: float(times) for known, times in seen.items() if known != self.end.definition}
        definition = self.choose(others, "definition") if others else None
        if ("-M" in class_ and not wrong) or ("dD" in class_ and definition is None):
            skipped[f"nothing else seen of the type, so no change {class_}"] += 1
        begin = replace(self.end, definition=definition or self.end.definition, calls=(*order[:count], *wrong))
        fewer = [replace(begin, calls=(*order[:count], *wrong[i:])) for i in range(1, len(wrong) + 1)]
        return [begin, *fewer, *self._grown(order, count, self.end.definition)]

    def _grown(self, order: Sequence[str], count: int, definition: Definition) -> Iterator[ObjectUsage]:
        """Yield usages with `count` calls, one more, … and all, then the end in order of the source."""
        for length in range(count, len(order)):
            yield replace(self.end, definition=definition, calls=tuple(order[:length]))
        yield self.end

    def _count(self) -> int:
        column = min(len(self.end.calls), len(ROWS)) - 1
        weights = {n: float(row[column]) for n, row in enumerate(ROWS) if row[column]}
        weights[0] *= 1 - NEW_OF_NONE
        count = self.choose(weights, "count")
        return count if count < len(ROWS) - 1 else min(count, len(self.end.calls) - 1)

    def _wrong(self) -> list[str]:
        others = {call: count for call, count in self.seen.calls.items() if call not in self.end.calls}
        count = 1
        while self.draw(f"wrong {count}") < ONE_MORE:
            count += 1
        # Exponential keys sample by weight without replacement (Efraimidis and Spirakis 2006).
        keys = {call: -math.log(max(self.draw(f"wrong {call}"), 1e-300)) / weight for call, weight in others.items()}
        return sorted(keys, key=lambda call: (keys[call], call))[:count]
