"""Estimates the tables of a modelled user from logs of what users did."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from ci_eval.learning.usermodel import UserModel

PLACES = 6
"""Rows of the table; the last one stands for all places from there on."""
ORDERS = 5
"""Columns; the last one stands for all queries from there on."""


@dataclass(frozen=True)
class ShownList:
    """One list that was shown."""

    COLUMNS: ClassVar = ("session", "query_number", "prefix", "place", "expected", "selected", "outcome")

    session: str
    number: int
    typed: int
    rank: int | None
    outcome: str


@dataclass(frozen=True, kw_only=True)
class Fitted:
    """The tables, and what they are made of."""

    model: UserModel
    sessions: int
    queries: int
    shown: tuple[int, ...]
    """How often the expected text stood at each place."""


def queries_of(batches: Iterable[Any]) -> Iterator[ShownList]:
    """The queries in record batches with `Query.COLUMNS`."""
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


def fitted(queries: Sequence[ShownList]) -> Fitted:
    """P_prefix: shares of the first prefixes. P_select = (taken + 1)/(shown + 4). P_cancel = (given up + 1/2)/(not
    taken + 10). From the sixth place and the fifth query on, all are counted together."""
    firsts: dict[str, ShownList] = {}
    shown: Counter[tuple[int, int]] = Counter()
    taken: Counter[tuple[int, int]] = Counter()
    passed: Counter[int] = Counter()
    given_up: Counter[int] = Counter()
    for query in queries:
        if query.session not in firsts or query.number < firsts[query.session].number:
            firsts[query.session] = query
        order = min(query.number, ORDERS - 1)
        if query.rank is not None:
            cell = min(query.rank, PLACES) - 1, order
            shown[cell] += 1
            taken[cell] += query.outcome == "selected"
        if query.outcome != "selected":
            passed[order] += 1
            given_up[order] += query.outcome == "cancelled"
    lengths = Counter(query.typed for query in firsts.values())
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
        queries=len(queries),
        shown=tuple(places[place] for place in range(PLACES)),
    )
