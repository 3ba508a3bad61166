"""The gap buffer, held against slices."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ci_eval.core.grammar.gap import GapText


@given(st.text("ab", max_size=20), st.data())
def test_changes_are_those_of_slices(text: str, data: st.DataObject) -> None:
    gap = GapText(text)
    for _ in range(data.draw(st.integers(0, 12))):
        begin = data.draw(st.integers(0, len(text)))
        end = data.draw(st.integers(begin, len(text)))
        new = data.draw(st.sampled_from(["", "x", "yz"]))
        assert gap.replace(begin, end, new) == text[begin:end]
        text = text[:begin] + new + text[end:]
        assert len(gap) == len(text)
        if data.draw(st.booleans()):
            assert str(gap) == text
    assert str(gap) == text


@pytest.mark.parametrize(("begin", "end"), [(-1, 0), (2, 1), (0, 4)])
def test_a_range_outside_the_text_is_refused(begin: int, end: int) -> None:
    with pytest.raises(ValueError, match="outside"):
        GapText("abc").replace(begin, end, "")
