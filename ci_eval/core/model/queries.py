"""The figures of stage 3 of the task method-calls: how much of a recommender's quality is left if it is asked as
developers ask."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable

from ci_eval.core.model.tokens import Number, Value


class QueryRow(Value, frozen=True, kw_only=True):
    """A group of query cases that have something in common."""

    name: str
    cases: Number
    """The number of cases that were evaluated, by any strategy."""
    f1: dict[str, float]
    """The mean F1 of the queries by strategy (see QueryFigures.figure)."""


class Optimism(Value, frozen=True, kw_only=True):
    """The advantage that a recommender seems to have under one strategy over another, over the cases that both asked
    about."""

    more: str
    less: str
    part: str
    """The scenarios: 0|M, N|M, M-1|M; ALL = all of them."""
    cases: Number
    difference: float
    """The mean F1 by the first strategy minus that by the second."""
    low: float | None = None
    high: float | None = None
    """The 95 % interval for other code like this, whose files are the sample; None if there are too few files."""
    effective: float = 0.0
    """The effective number of files."""


class Contribution(Value, frozen=True, kw_only=True):
    """The number of histories that one user contributed, of their states, of the pairs of states that may be asked
    about, and of those that are."""

    histories: Number = 0
    states: Number = 0
    pairs: Number = 0
    evaluated: Number = 0

    def __add__(self, other: Contribution) -> Contribution:
        return Contribution(
            histories=self.histories + other.histories,
            states=self.states + other.states,
            pairs=self.pairs + other.pairs,
            evaluated=self.evaluated + other.evaluated,
        )


class Histories(Value, frozen=True, kw_only=True):
    """The histories of a dataset."""

    users: dict[str, Contribution] = {}
    """The contributions by user; "" = not named. The key is a digest of the name, by which parts of a run add up the
    same user. It hides nobody from those who have the dataset or guess the name: they compute the same digest."""
    lengths: dict[int, Number] = {}
    """The number of histories by their number of states."""


def sum_histories(parts: Iterable[Histories]) -> Histories:
    """Return the sum of these descriptions of histories."""
    users, lengths = defaultdict[str, Contribution](Contribution), Counter[int]()
    for part in parts:
        lengths.update(part.lengths)
        for user, contribution in part.users.items():
            users[user] += contribution
    return Histories(users=dict(users), lengths=dict(lengths))


class Steps(Value, frozen=True, kw_only=True):
    """The F1 of real queries about the goal of the evaluation, beside that of the same answers about the next state, in
    the cases that have both."""

    cases: Number
    goal: float
    next: float
    difference: float
    """The first minus the second."""
    low: float | None = None
    high: float | None = None
    """The 95 % interval for other code; see Optimism."""
    effective: float = 0.0
    u: float
    """Mann and Whitney's U of the two, as if they were of different cases, and its two-sided p-value."""
    p: float


class QueryFigures(Value, frozen=True, kw_only=True):
    """The figures of all usage queries of an evaluation."""

    figure: str = "F1"
    """The figure that the `f1` of all rows is: F1, or R-precision if an engine's lists have no end."""
    pairs: dict[str, Number]
    """The number of pairs of states by outcome."""
    transitions: dict[str, dict[str, Number]]
    """The number of cases by the calls that are there and stay, then by the calls of the end."""
    scenarios: tuple[QueryRow, ...]
    """The rows by scenario, with the row of all cases first."""
    evolutions: tuple[QueryRow, ...]
    types: tuple[QueryRow, ...]
    """The rows of the types with the most cases, in falling order."""
    all_types: Number
    """The number of all types."""
    optimism: tuple[Optimism, ...]
    steps: Steps | None = None
    histories: Histories | None = None
