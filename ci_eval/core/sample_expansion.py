"""The contract of tasks whose dataset lines expand to several items, and items to several lookups."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from ci_eval.core.model import Histories, Properties, QueriesConfig, Record, Suggestion

Lines = Iterable[tuple[int, dict[str, object] | str]]
"""Number of a line of a dataset → its fields, or why it has none."""


@dataclass(frozen=True, kw_only=True)
class RecordItem:
    """An item that a dataset's line expands to."""

    record: Record
    expected: str
    """The right result, as a text for people."""
    properties: Properties


@dataclass(frozen=True, kw_only=True)
class SourceHole:
    """A source file with one hole."""

    before: str
    expected: str
    after: str
    ending: str
    """The end of the file's name, which decides the grammar."""
    properties: Properties


@dataclass(frozen=True, kw_only=True)
class Split:
    items: Sequence[RecordItem] = ()
    hole: SourceHole | None = None
    """The line's only item, if engines are asked at a caret in the line's own file."""
    fates: Mapping[str, int] = field(default_factory=dict)
    """Outcome → number of candidates for items that met it."""
    drawn: bool = False
    """True if another seed would make other items."""
    histories: Histories = field(default_factory=Histories)
    """The history that the line is, if it is one."""
    texts: Mapping[str, str] = field(default_factory=dict)
    """Digest → text, for the texts that carets of the items point into."""
    trouble: str = ""
    """The part of the line that could not be used, though there are items."""


Splitter = Callable[[Mapping[str, object]], Split]
"""Expands the fields of a line. Raises ValueError, which says what is wrong with the line."""


@dataclass(frozen=True, kw_only=True)
class Splitting:
    """The functions that expand lines to items, and items to lookups. They are sent to worker processes, so none is a
    lambda."""

    splitter: Callable[[Lines, QueriesConfig, int], Splitter]
    """The whole dataset (read if sampling needs it), the settings, the seed → the splitter of its lines."""
    cluster: tuple[str, ...]
    """Fields whose values together name the cluster of a line, unless the configuration does."""
    lookup: Callable[[Record, int], Record]
    """The record of an item, the number of a lookup from 0 → the record that the lookup asks about."""
    grade: Callable[[Sequence[Suggestion], Record], Mapping[str, float]]
    """The suggestions of a lookup, its record → its grades."""
    named: Callable[[Sequence[Suggestion]], Sequence[Suggestion]] | None = None
    """The suggestions of a completion engine at the caret of a lookup → the same as an answer to the record has it.
    None if the task's records have no carets."""
    ranked: Callable[[Sequence[Suggestion], Record], Mapping[str, float]] | None = None
    """The `grade` of such a list, which has no end that would mean anything."""
