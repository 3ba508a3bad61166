"""Lines and columns of offsets."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from ci_eval.lines import Lines


@given(st.text(alphabet="a\n\r\u2028😀", max_size=30), st.data())
def test_a_place_is_what_counting_gives(text: str, data: st.DataObject) -> None:
    offset = data.draw(st.integers(0, len(text)))
    before = text[:offset]
    assert Lines(text).place(offset) == (before.count("\n") + 1, len(before.rpartition("\n")[2]))
