"""UTF-16 units and code points."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ci_eval.core.base.errors import WorkspaceError
from ci_eval.core.model import Action, DeleteRange, MoveCaret, PrintText
from ci_eval.plugins.jetbrains.offsets import convert_actions, to_points, to_units


@given(text=st.text())
def test_each_offset_goes_there_and_back(text: str) -> None:
    for offset in range(len(text) + 1):
        units = to_units(text, offset)
        assert units == len(text[:offset].encode("utf-16-le", "surrogatepass")) // 2
        assert to_points(text, units) == offset


def test_an_offset_behind_the_end_is_none() -> None:
    with pytest.raises(ValueError, match="behind the end"):
        to_points("a😀", 4)


def test_offsets_of_actions_are_those_of_the_text_at_the_time() -> None:
    begun: list[Action] = [MoveCaret(offset=0), PrintText(text="😀")]
    actions = [*begun, MoveCaret(offset=4), DeleteRange(begin=0, end=2)]
    found = convert_actions("ab", actions, to_points, ours=False)
    assert found == [*begun, MoveCaret(offset=3), DeleteRange(begin=0, end=1)]
    assert convert_actions("ab", found, to_units, ours=True) == actions


def test_actions_that_do_not_fit_are_refused() -> None:
    with pytest.raises(WorkspaceError, match="do not fit the text"):
        convert_actions("😀", [MoveCaret(offset=9)], to_points, ours=False)
