"""What a task must provide whose lines of a dataset are several items each, and whose items are several lookups."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from ci_eval.model import Properties, QueriesConfig, Record, Suggestion

Lines = Iterable[tuple[int, dict[str, object] | str]]
"""Number of a line of a dataset → its fields, or why it has none."""


@dataclass(frozen=True, kw_only=True)
class RecordItem:
    """One item of a line."""

    record: Record
    expected: str
    """What would be right, as a text for people."""
    properties: Properties


@dataclass(frozen=True, kw_only=True)
class Split:
    """What a line is made of."""

    items: Sequence[RecordItem]
    fates: Mapping[str, int] = field(default_factory=dict)
    """What became of all that might have been an item: fate → how many."""
    texts: Mapping[str, str] = field(default_factory=dict)
    """Digest → the texts that carets of the items are in."""
    trouble: str = ""
    """What of the line could not be used, though there are items."""


Splitter = Callable[[Mapping[str, object]], Split]
"""The fields of a line → what it is made of. Raises ValueError, which says what is wrong with the line."""


@dataclass(frozen=True, kw_only=True)
class Splitting:
    """How lines become items, and items lookups. It is sent to worker processes, so its functions have names."""

    splitter: Callable[[Lines, QueriesConfig, int], Splitter]
    """The whole dataset, which is looked at where drawing takes that; what is wanted; the seed."""
    cluster: tuple[str, ...]
    """Fields whose values, together, say which lines are sampled together, where the configuration does not."""
    lookup: Callable[[Record, int], Record]
    """What the lookup of that number, from 0, asks of an item."""
    grade: Callable[[Sequence[Suggestion], Record], Mapping[str, float]]
    """The suggestions of a lookup, what it asked → its grades."""
    named: Callable[[Sequence[Suggestion]], Sequence[Suggestion]] | None = None
    """What a completion engine suggested at the caret of a lookup → the same as an answer to the record has it. None:
    its records have no carets."""
    ranked: Callable[[Sequence[Suggestion], Record], Mapping[str, float]] | None = None
    """As `grade`, for such a list, which has no end that would say anything."""
