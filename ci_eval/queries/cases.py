"""Query cases: two states of a usage, between which somebody added calls; and what kind of change that was."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from ci_eval.model import Definition, History, ObjectUsage
from ci_eval.model.settings import Evolution, Goal, Scenario

Fate = Literal["evaluated", "only removals", "unchanged"]
"""What becomes of a pair of states: only those with an added call are evaluated."""

SCENARIOS: tuple[Scenario, ...] = ("NEW", "0|1", "0|2+", "1|2", "N|3+", "M-1|M")
EVOLUTIONS: tuple[Evolution, ...] = ("NEW", "0", "-M", "dD", "-M+dD")


@dataclass(frozen=True)
class QueryCase:
    """A start, about which a recommender is asked, and the end that it should help to reach."""

    history: History
    number: int
    """Of the start among the history's states, from 0."""
    start: ObjectUsage | None
    end: ObjectUsage | None
    goal: int
    """The number of the end."""

    @cached_property
    def before(self) -> tuple[str, ...]:
        """The calls of the start, each once; none where it is empty."""
        return calls_of(self.start)

    @cached_property
    def after(self) -> tuple[str, ...]:
        """The calls of the end."""
        return calls_of(self.end)

    @cached_property
    def kept(self) -> tuple[str, ...]:
        """Those of both, in the order of the end."""
        return tuple(call for call in self.after if call in set(self.before))

    @property
    def removed(self) -> int:
        """How many calls of the start the end does not have."""
        return len(self.before) - len(self.kept)

    @property
    def added(self) -> int:
        """How many calls of the end the start does not have."""
        return len(self.after) - len(self.kept)

    @property
    def label(self) -> str:
        """Calls of the start, minus removed, plus added: `3-2+1`; parts that are 0 go without saying."""
        removed, added = f"-{self.removed}" if self.removed else "", f"+{self.added}" if self.added else ""
        return f"{len(self.before)}{removed}{added}"

    @property
    def fate(self) -> Fate:
        """Whether there is something to propose."""
        return "evaluated" if self.added else "only removals" if self.removed else "unchanged"

    @property
    def scenario(self) -> Scenario:
        """Of an evaluated case."""
        return scenario(len(self.kept), len(self.after), new=self.start is None)

    @property
    def evolution(self) -> Evolution:
        """Of an evaluated case."""
        if self.start is None:
            return "NEW"
        changed = definition_of(self.start) != definition_of(self.end)
        return ("-M+dD" if changed else "-M") if self.removed else ("dD" if changed else "0")

    @property
    def identity(self) -> str:
        """The same in every run, and no other case's."""
        of = self.history
        return "\0".join((of.project, of.file, of.user, of.type, of.method, str(self.number)))


def scenario(kept: int, wanted: int, *, new: bool) -> Scenario:
    """`kept`: N, the calls that are there and stay. `wanted`: M, those of the end. `new`: nothing was there."""
    if new:
        return "NEW"
    if kept == 0:
        return "0|1" if wanted == 1 else "0|2+"
    if kept == wanted - 1:
        return "1|2" if wanted == 2 else "M-1|M"
    return "N|3+"


def coarse(found: Scenario) -> str:
    """The scenario among three: 0|M, N|M, M-1|M; the paper counts 0|1 and 1|2 among the first two."""
    return "0|M" if found in {"NEW", "0|1", "0|2+"} else "N|M" if found in {"1|2", "N|3+"} else "M-1|M"


def check_names(names: Iterable[str]) -> None:
    """Raises ValueError where a name could not stand on a line of its own."""
    for name in names:
        if name != name.strip() or len(name.splitlines()) != 1 or not name.isprintable():
            raise ValueError(f"{name!r} is no name of a type or method: names are not empty, and stand on one line")


def calls_of(usage: ObjectUsage | None) -> tuple[str, ...]:
    """Each once, in the order of the source."""
    return tuple(dict.fromkeys(usage.calls)) if usage else ()


def definition_of(usage: ObjectUsage | None) -> Definition:
    """UNKNOWN where there is no usage."""
    return usage.definition if usage else Definition()


def cases_of(history: History, goal: Goal) -> Iterator[QueryCase]:
    """The pairs of states of a history, whatever their fate.

    `goal`: what ends a case: the last state ("last"), the last one that is not empty ("last_nonempty"), after which
    nothing is looked at, or the state that follows the start ("next").
    """
    states = list(history.states)
    if goal == "last_nonempty":
        while states and states[-1] is None:
            states.pop()
    for number, start in enumerate(states[:-1]):
        end = number + 1 if goal == "next" else len(states) - 1
        yield QueryCase(history, number, start, states[end], end)
