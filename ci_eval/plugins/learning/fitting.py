"""The estimation of a modelled user's probabilities from logs of what users did."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from ci_eval.core.user_model import UserModel

PLACES = 6
"""Rows of the table of selections, one per rank. The last row stands for all further ranks."""
ORDERS = 5
"""Columns of the table, one per lookup of a session. The last column stands for all further lookups."""


@dataclass(frozen=True)
class ShownList:
    COLUMNS: ClassVar = ("session", "query_number", "prefix", "place", "expected", "selected", "outcome")

    session: str
    number: int
    """Number of the lookup within its session, from 0."""
    typed: int
    """Characters of the prefix."""
    rank: int | None
    """Rank of the expected text, None if it is not in the list."""
    outcome: str
    """Outcome of the lookup: `selected`, `cancelled` or `typed` (the user went on typing)."""


@dataclass(frozen=True, kw_only=True)
class Fitted:
    model: UserModel
    sessions: int
    queries: int
    shown: tuple[int, ...]
    """Number of times that the expected text had each rank, from 1 to PLACES. The last number counts all further
    ranks."""


def read_lists(batches: Iterable[Any]) -> Iterator[ShownList]:
    """Yield the lookups in record batches of Parquet logs with the columns `ShownList.COLUMNS`; one row per
    suggestion."""
    held: ShownList | None = None
    for batch in batches:
        columns = [batch.column(place) for place in range(len(ShownList.COLUMNS))]
        places, expected = np.asarray(columns[3]), np.asarray(columns[4])
        for row in np.flatnonzero((places == 1) | expected):
            if places[row] == 1:
                if held:
                    yield held
                session, number, prefix = (columns[column][int(row)].as_py() for column in range(3))
                held = ShownList(session, number, len(prefix), None, columns[6][int(row)].as_py())
            if expected[row] and held:
                held = ShownList(held.session, held.number, held.typed, int(places[row]), held.outcome)
    if held:
        yield held


def fit_user(lists: Sequence[ShownList]) -> Fitted:
    """Return the user whose probabilities fit these lookups best, smoothed for small counts.

    Length of the first prefix: its share of the sessions. Taking the expected text: (taken + 1)/(shown + 4), by its
    rank and the lookup's number in the session. Giving up: (given up + 1/2)/(not taken + 10), by the lookup's number.
    From the sixth rank and the fifth lookup on, all are counted together.
    """
    firsts: dict[str, ShownList] = {}
    shown: Counter[tuple[int, int]] = Counter()
    taken: Counter[tuple[int, int]] = Counter()
    passed: Counter[int] = Counter()
    given_up: Counter[int] = Counter()
    for lookup in lists:
        if lookup.session not in firsts or lookup.number < firsts[lookup.session].number:
            firsts[lookup.session] = lookup
        order = min(lookup.number, ORDERS - 1)
        if lookup.rank is not None:
            cell = min(lookup.rank, PLACES) - 1, order
            shown[cell] += 1
            taken[cell] += lookup.outcome == "selected"
        if lookup.outcome != "selected":
            passed[order] += 1
            given_up[order] += lookup.outcome == "cancelled"
    lengths = Counter(lookup.typed for lookup in firsts.values())
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
