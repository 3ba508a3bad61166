"""What acceptance leaves, and whether the code goes on with it."""

from __future__ import annotations

import pytest

from ci_eval.core.interpret.clients import duplicates, remaining_tail
from ci_eval.core.model import Suggestion
from ci_eval.core.model.sessions import Offer


@pytest.mark.parametrize(
    ("tail", "firm", "follows", "left"),
    [
        ("=", 1, ")", "="),
        ("=", 1, "=environ)", ""),
        ("=", 1, " = 5", ""),
        ("=", 1, " == 5", "="),
        ("()", 1, "(a, b)", ""),
        ("()", 1, ", b)", "()"),
        ("()", 2, "(a, b)", "()"),
        ("()", 2, "()\n", ""),
        ("(a)", 0, ")", ""),
        (" ", 1, ")", ""),
        ("::x", 3, "::x()", ""),
        ("⌫)", 2, ")", "⌫)"),
        ("", 0, "(", ""),
    ],
)
def test_a_tail_counts_unless_the_code_goes_on_with_it(tail: str, firm: int, follows: str, left: str) -> None:
    assert remaining_tail(Offer(text="environ", tail=tail, firm=firm), follows) == left


def test_a_tail_does_not_count_where_it_is_not_known_how_the_code_goes_on() -> None:
    assert remaining_tail(Offer(text="environ", tail="=", firm=1), None) == ""


def test_duplicates_leave_the_same_text() -> None:
    shown = [Suggestion(text="add"), Suggestion(text="add", label="add(a)"), Suggestion(text="add", tail="=")]
    assert duplicates(shown) == 1
