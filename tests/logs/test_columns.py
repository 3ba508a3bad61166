"""The columns of the logs."""

from __future__ import annotations

import json
from dataclasses import replace

from msgspec.structs import replace as structs_replace

from ci_eval.core.logs.columns import COLUMNS, build_columns, describe_columns, make_group_id
from ci_eval.core.logs.features import FEATURES
from ci_eval.core.text_spans import Lines
from tests.logs.sessions import ORIGIN, logged


def test_each_query_has_a_row_for_each_suggestion_and_every_column() -> None:
    first, second = build_columns(logged(selected=True), ORIGIN)
    assert list(second) == [column.name for column in COLUMNS]
    assert {len(values) for values in second.values()} == {2}
    assert (first["expected"], first["selected"]) == ([False, False], [False, False])
    assert (second["place"], second["expected"], second["selected"]) == ([1, 2], [False, True], [False, True])
    assert [query["selected"] for query in build_columns(logged(), ORIGIN)] == [[False, False]] * 2
    assert second["candidate"] == ["function", "variable"]


def test_all_rows_of_a_query_have_its_group_and_place() -> None:
    text = "a\nname"
    session = logged()
    session = replace(session, session=structs_replace(session.session, offset=2))
    first, second = build_columns(session, replace(ORIGIN, lines=Lines(text)))
    assert (second["offset"], second["line"]) == ([2, 2], [2, 2])
    assert len({*first["group"]}) == len({*second["group"]}) == 1
    assert first["group"] != second["group"]
    assert first["group"][0] == make_group_id("1", 0)
    assert 0 <= make_group_id("1", 0) < 2**63


def test_the_code_around_the_token_is_logged_as_far_as_wanted() -> None:
    session = logged()
    expected = session.session.expected_text
    session = replace(session, session=structs_replace(session.session, offset=4))
    origin = replace(ORIGIN, text=f"x = {expected}(1)\n", context=3)
    for query in build_columns(session, origin):
        assert (set(query["before"]), set(query["after"])) == ({" = "}, {"(1)"})
    assert {text for query in build_columns(session, replace(origin, context=0)) for text in query["before"]} == {""}


def test_every_column_is_described() -> None:
    assert [each["name"] for each in json.loads(describe_columns())["columns"]] == [
        each.name for each in (*COLUMNS, *FEATURES)
    ]
