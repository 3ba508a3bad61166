"""Stage 3 of the task method-calls: how much of a recommender's quality is left when it is asked as developers ask."""

from __future__ import annotations

from ci_eval.model.tokens import Number, Value


class QueryRow(Value, frozen=True, kw_only=True):
    """Query cases that have something in common."""

    name: str
    cases: Number
    """That were evaluated, by any strategy."""
    f1: dict[str, float]
    """Strategy → mean F1 of its queries (see QueryFigures.figure)."""


class Optimism(Value, frozen=True, kw_only=True):
    """How much better a recommender looks by one strategy than by another, over the cases that were asked about by
    both."""

    more: str
    less: str
    part: str
    """The scenarios: 0|M, N|M, M-1|M; ALL = all of them."""
    cases: Number
    difference: float
    """Mean F1 by the first strategy - that by the second."""
    low: float | None = None
    high: float | None = None
    """The 95 % interval for other code like this, whose files are the sample; None where there are too few files."""
    effective: float = 0.0
    """The effective number of files."""


class QueryFigures(Value, frozen=True, kw_only=True):
    """All of it."""

    figure: str = "F1"
    """What the `f1` of all rows is: F1, or R-precision where an engine's lists have no end."""
    pairs: dict[str, Number]
    """What became of the pairs of states: fate → how many."""
    transitions: dict[str, dict[str, Number]]
    """Calls that are there and stay → calls of the end → cases."""
    scenarios: tuple[QueryRow, ...]
    """All cases first."""
    evolutions: tuple[QueryRow, ...]
    types: tuple[QueryRow, ...]
    """Those with the most cases, the most first."""
    all_types: Number
    """How many there are."""
    optimism: tuple[Optimism, ...]
