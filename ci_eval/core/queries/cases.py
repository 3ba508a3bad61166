"""The query cases: pairs of states of a usage between which calls were added, and the kind of each change."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from ci_eval.core.model import Definition, History, ObjectUsage
from ci_eval.core.model.settings import Evolution, Goal, Scenario

Fate = Literal["evaluated", "only removals", "unchanged"]
"""Outcome of a pair of states: only those with an added call are evaluated."""

SCENARIOS: tuple[Scenario, ...] = ("NEW", "0|1", "0|2+", "1|2", "N|3+", "M-1|M")
EVOLUTIONS: tuple[Evolution, ...] = ("NEW", "0", "-M", "dD", "-M+dD")


@dataclass(frozen=True)
class QueryCase:
    """A start, about which a recommender is asked, and the end that it should help to reach."""

    history: History
    number: int
    """Number of the start among the history's states, from 0."""
    start: ObjectUsage | None
    end: ObjectUsage | None
    goal: int
    """The number of the end."""

    @cached_property
    def before(self) -> tuple[str, ...]:
        return distinct_calls(self.start)

    @cached_property
    def after(self) -> tuple[str, ...]:
        return distinct_calls(self.end)

    @cached_property
    def kept(self) -> tuple[str, ...]:
        """Return the calls that start and end have in common, in the order of the end."""
        return tuple(call for call in self.after if call in set(self.before))

    @property
    def removed(self) -> int:
        return len(self.before) - len(self.kept)

    @property
    def added(self) -> int:
        return len(self.after) - len(self.kept)

    @property
    def label(self) -> str:
        """Return the numbers of calls of the start, minus removed, plus added, such as `3-2+1`. Parts that are 0 are
        left out."""
        removed, added = f"-{self.removed}" if self.removed else "", f"+{self.added}" if self.added else ""
        return f"{len(self.before)}{removed}{added}"

    @property
    def next_calls(self) -> tuple[str, ...]:
        """Return the calls that the state after the start has, and the start lacks."""
        calls = distinct_calls(self.history.states[self.number + 1])
        return tuple(call for call in calls if call not in self.before)

    @property
    def fate(self) -> Fate:
        """Return the outcome of the case: "evaluated" if calls were added."""
        return "evaluated" if self.added else "only removals" if self.removed else "unchanged"

    @property
    def scenario(self) -> Scenario:
        return scenario(len(self.kept), len(self.after), new=self.start is None)

    @property
    def evolution(self) -> Evolution:
        if self.start is None:
            return "NEW"
        changed = usage_definition(self.start) != usage_definition(self.end)
        return ("-M+dD" if changed else "-M") if self.removed else ("dD" if changed else "0")

    @property
    def identity(self) -> str:
        """Return a text that names this case alone, the same in every run."""
        of = self.history
        return "\0".join((of.project, of.file, of.user, of.type, of.method, str(self.number)))


def scenario(kept: int, goal: int, *, new: bool) -> Scenario:
    """Return the scenario of a case with N `kept` calls and M calls at the end. `new` says that the start is empty."""
    if new:
        return "NEW"
    if kept == 0:
        return "0|1" if goal == 1 else "0|2+"
    if kept == goal - 1:
        return "1|2" if goal == 2 else "M-1|M"
    return "N|3+"


def coarse(fine: Scenario) -> str:
    """Return the scenario as one of three: 0|M, N|M, M-1|M. The paper counts 0|1 and 1|2 among the first two."""
    return "0|M" if fine in {"NEW", "0|1", "0|2+"} else "N|M" if fine in {"1|2", "N|3+"} else "M-1|M"


def check_names(names: Iterable[str]) -> None:
    """Check that each name fits on a line of its own. Raises ValueError."""
    for name in names:
        if name != name.strip() or len(name.splitlines()) != 1 or not name.isprintable():
            raise ValueError(f"{name!r} is no name of a type or method: names are not empty, and stand on one line")


def distinct_calls(usage: ObjectUsage | None) -> tuple[str, ...]:
    """Return the distinct calls of a usage, in the order of the source."""
    return tuple(dict.fromkeys(usage.calls)) if usage else ()


def usage_definition(usage: ObjectUsage | None) -> Definition:
    """Return the definition of a usage, UNKNOWN if there is no usage."""
    return usage.definition if usage else Definition()


def generate_cases(history: History, goal: Goal) -> Iterator[QueryCase]:
    """Yield the pairs of states of a history, whatever their outcome. `goal` says which state ends a case: the last one
    ("last"), the last one that is not empty, with all later states ignored ("last_nonempty"), or the one that follows
    the start ("next")."""
    states = list(history.states)
    # In histories from Git, code that moves to another file leaves nothing behind.
    if goal == "last_nonempty":
        while states and states[-1] is None:
            states.pop()
    for number, start in enumerate(states[:-1]):
        end = number + 1 if goal == "next" else len(states) - 1
        yield QueryCase(history, number, start, states[end], end)
