"""What the user did after each query."""

from __future__ import annotations

from tests.logs.sessions import logged


def test_after_each_query_but_the_last_the_user_typed_on() -> None:
    for session, last in (
        (logged(selected=True), "selected"),
        (logged(cancelled=True), "cancelled"),
        (logged(), "typed"),
    ):
        assert [session.outcome(number) for number in (0, 1)] == ["typed", last]
        assert session.selected == (last == "selected")
