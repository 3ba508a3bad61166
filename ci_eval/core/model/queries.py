"""The figures of stage 3 of the task method-calls: how much of a recommender's quality is left if it is asked as
developers ask."""

from __future__ import annotations

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
