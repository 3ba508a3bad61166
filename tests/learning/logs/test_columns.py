"""The columns of the logs."""

from __future__ import annotations

import json

from ci_eval.learning.features import FEATURES
from ci_eval.learning.logs.columns import COLUMNS, columns_of, described
from tests.learning.logs.sessions import ORIGIN, logged


def test_each_query_has_a_row_for_each_suggestion_and_every_column() -> None:
    first, second = columns_of(logged(selected=True), ORIGIN)
    assert list(second) == [column.name for column in COLUMNS]
    assert {len(values) for values in second.values()} == {2}
    assert (first["expected"], first["selected"]) == ([False, False], [False, False])
    assert (second["place"], second["expected"], second["selected"]) == ([1, 2], [False, True], [False, True])
    assert [query["selected"] for query in columns_of(logged(), ORIGIN)] == [[False, False]] * 2
    assert second["candidate"] == ["function", "variable"]


def test_every_column_is_described() -> None:
    assert [each["name"] for each in json.loads(described())["columns"]] == [
        each.name for each in (*COLUMNS, *FEATURES)
    ]
