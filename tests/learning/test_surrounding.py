"""The tokens on both sides of a caret."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from ci_eval.core.logs.names import START_OF_LINE
from ci_eval.plugins.learning.surrounding import Surrounding

FILE = 'from a import b\nx = b(a)\n\n"""one\ntwo"""\nfor x in b:\n    print(x, a)  # no\n'


def fresh() -> Surrounding:
    return Surrounding("python", 3, lambda text: text != START_OF_LINE)


def shown(around: Surrounding) -> list[object]:
    sides = (around.before, around.after)
    return [(each.tokens, [dict(each.following(each.context(length))) for length in range(3)]) for each in sides]


def test_both_sides_end_at_the_caret() -> None:
    around = fresh()
    around.read("a = 1\nb(", ", c)\n\nd = 2\n")
    assert around.before.tokens == [START_OF_LINE, "a", "=", "1", START_OF_LINE, "b", "("]
    assert around.after.tokens == [START_OF_LINE, "2", "=", "d", START_OF_LINE, ")", "c", ","]


@given(st.lists(st.tuples(st.integers(0, len(FILE)), st.integers(0, 3), st.booleans()), min_size=1, max_size=8))
@settings(max_examples=300)
def test_reading_on_gives_what_reading_anew_gives(places: list[tuple[int, int, bool]]) -> None:
    around = fresh()
    for place, missing, left in places:
        before, after = FILE[:place], "" if left else FILE[place + missing :]
        anew = fresh()
        around.read(before, after)
        anew.read(before, after)
        assert shown(around) == shown(anew)


def test_no_more_than_the_capacity_is_counted_before_the_line() -> None:
    around = Surrounding("python", 1, lambda text: text != START_OF_LINE, capacity=3)
    around.read("a\nb\nc\n", "")
    assert dict(around.before.following(())) == {"b": 1, "c": 1}
