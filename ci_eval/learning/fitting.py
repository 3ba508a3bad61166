"""Estimates the probabilities of a modelled user from logs of what users did."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from ci_eval.learning.usermodel import UserModel

PLACES = 6
"""Rows of the table of selections, one per rank; the last one stands for all ranks from there on."""
ORDERS = 5
"""Its columns, one per lookup of a session; the last one stands for all lookups from there on."""


@dataclass(frozen=True)
class ShownList:
    """One lookup in the logs: the list that was shown, and what the user did with it."""

    COLUMNS: ClassVar = ("session", "query_number", "prefix", "place", "expected", "selected", "outcome")

    session: str
    number: int
    """Of the lookup within its session, from 0."""
    typed: int
    """Characters of the prefix."""
    rank: int | None
    """Of the expected text; None where it is not in the list."""
    outcome: str
    """`selected`, `cancelled` or `typed` (the user went on typing)."""


@dataclass(frozen=True, kw_only=True)
class Fitted:
    """A modelled user, and the amount of data that it was estimated from."""

    model: UserModel
    sessions: int
    queries: int
    shown: tuple[int, ...]
    """How often the expected text had each rank, from 1 to PLACES; the last number is of all ranks from there on."""


def lists_of(batches: Iterable[Any]) -> Iterator[ShownList]:
    """The lookups in record batches of Parquet logs with the columns `ShownList.COLUMNS`; one row per suggestion."""
    held: ShownList | None = None
    for batch in batches:
        columns = [batch.column(place) for place in range(len(ShownList.COLUMNS))]
        places, expected = np.asarray(columns[3]), np.asarray(columns[4])
        for row in np.flatnonzero((places == 1) | expected):
            if places[row] == 1:
                if held:
                    yield held
                session, number, prefix = (columns[each][int(row)].as_py() for each in range(3))
                held = ShownList(session, number, len(prefix), None, columns[6][int(row)].as_py())
            if expected[row] and held:
                held = ShownList(held.session, held.number, held.typed, int(places[row]), held.outcome)
    if held:
        yield held


def fitted(lists: Sequence[ShownList]) -> Fitted:
    """The user whose probabilities fit these lookups best, smoothed where they are few.

    Length of the first prefix: its share of the sessions. Taking the expected text: (taken + 1)/(shown + 4), by its
    rank and the lookup's number in the session. Giving up: (given up + 1/2)/(not taken + 10), by the lookup's number.
    From the sixth rank and the fifth lookup on, all are counted together.
    """
    firsts: dict[str, ShownList] = {}
    shown: Counter[tuple[int, int]] = Counter()
    taken: Counter[tuple[int, int]] = Counter()
    passed: Counter[int] = Counter()
    given_up: Counter[int] = Counter()
    for each in lists:
        if each.session not in firsts or each.number < firsts[each.session].number:
            firsts[each.session] = each
        order = min(each.number, ORDERS - 1)
        if each.rank is not None:
            cell = min(each.rank, PLACES) - 1, order
            shown[cell] += 1
            taken[cell] += each.outcome == "selected"
        if each.outcome != "selected":
            passed[order] += 1
            given_up[order] += each.outcome == "cancelled"
    lengths = Counter(each.typed for each in firsts.values())
    places: dict[int, int] = defaultdict(int)
    for (place, _), count in shown.items():
        places[place] += count
    return Fitted(
        model=UserModel(
            first_prefix=tuple(lengths[typed] / len(firsts) for typed in range(max(lengths) + 1)),
            select=tuple(
                tuple((taken[place, order] + 1) / (shown[place, order] + 4) for order in range(ORDERS))
                for place in range(PLACES)
            ),
            cancel=tuple((given_up[order] + 0.5) / (passed[order] + 10) for order in range(ORDERS)),
        ),
        sessions=len(firsts),
        queries=len(lists),
        shown=tuple(places[place] for place in range(PLACES)),
    )
