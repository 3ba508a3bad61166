"""The histories of usages in the snapshots of a file, after Proksch et al. (ASE 2016), section on micro commits."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from ci_eval.core.model import Definition, History, ObjectPlace, ObjectUsage

Key = tuple[str, str]
"""Method and type: what a history is of, in one file of one user."""
Merge = Literal["last", "all"]
"""Snapshots at which a selected proposal makes a state of its own: at the last one, as in the paper, or at all, as in
its code."""
Dropped = Literal["file with one snapshot", "unchanged", "without any call"]
"""Reason for leaving a history out: a file with fewer than two snapshots has none, a usage that never changes has one
state, and one without any call has none to ask for."""


@dataclass(frozen=True, kw_only=True)
class Moment:
    time: float
    usages: Mapping[Key, ObjectUsage]
    selected: Mapping[Key, ObjectUsage] = field(default_factory=dict)
    """The usages with the proposal that was selected right then."""
    is_trigger: bool = False
    """True if completion was called."""
    places: Mapping[Key, ObjectPlace] = field(default_factory=dict)
    """Locations of the usages in the text of that time, as far as they are known."""


State = tuple[ObjectUsage | None, ObjectPlace | None]
"""A usage, and its location in the text."""


def histories(
    moments: Sequence[Moment],
    dropped: Counter[Dropped],
    *,
    project: str = "",
    file: str = "",
    user: str = "",
    merge: Merge = "last",
) -> Iterator[History]:
    """Yield the histories of one file of one user, in order of the first state. Discarded ones are counted in
    `dropped`.

    If completion was called at some moments, only these count.
    """
    chosen = [moment for moment in moments if moment.is_trigger] or list(moments)
    chosen.sort(key=lambda moment: moment.time)
    if len(chosen) < 2:
        dropped["file with one snapshot"] += bool(chosen)
        return
    for key in dict.fromkeys(key for moment in chosen for key in (*moment.usages, *moment.selected)):
        timeline = _states(chosen, key, merge)
        states, places = tuple(state for state, _ in timeline), tuple(place for _, place in timeline)
        if reason := _drop_reason(states):
            dropped[reason] += 1
            continue
        method, type_ = key
        yield History(
            project=project,
            file=file,
            user=user,
            type=type_,
            method=method,
            states=states,
            places=places if any(places) else (),
        )


def _states(moments: Sequence[Moment], key: Key, merge: Merge) -> list[State]:
    """Return a state for each moment, None if the usage is absent. Of equal neighbours the first stays."""
    states: list[State] = []
    for number, moment in enumerate(moments, 1):
        states.append((moment.usages.get(key), moment.places.get(key)))
        if key in moment.selected and (merge == "all" or number == len(moments)):
            # A selected proposal is in no text, so it has no location.
            states.append((moment.selected[key], None))
    return [state for i, state in enumerate(states) if i == 0 or not equal(state[0], states[i - 1][0])]


def _drop_reason(states: Sequence[ObjectUsage | None]) -> Dropped | None:
    if len(states) < 2:
        return "unchanged"
    return None if any(state and state.calls for state in states) else "without any call"


def equal(first: ObjectUsage | None, second: ObjectUsage | None) -> bool:
    """Return whether two states are the same, the order of calls aside."""
    return _identity(first) == _identity(second)


def _identity(usage: ObjectUsage | None) -> tuple[str, str, Definition, frozenset[str]] | None:
    return None if usage is None else (usage.class_, usage.method, usage.definition, frozenset(usage.calls))
