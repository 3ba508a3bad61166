"""Logs as the plugin's events."""

from __future__ import annotations

from pathlib import Path

import pytest

from ci_eval.plugins.log_formats.jetbrains import FORMAT, make_user_id
from tests.logs.sessions import ORIGIN, logged


@pytest.mark.parametrize(
    ("selected", "cancelled", "actions"),
    [
        (True, False, ["COMPLETION_STARTED", "TYPE", "DOWN", "EXPLICIT_SELECT"]),
        (False, True, ["COMPLETION_STARTED", "TYPE", "COMPLETION_CANCELED"]),
        (False, False, ["COMPLETION_STARTED", "TYPE", "TYPED_SELECT"]),
    ],
)
def test_a_session_is_told_as_the_keys_that_were_pressed(
    tmp_path: Path, selected: bool, cancelled: bool, actions: list[str]
) -> None:
    part = FORMAT.write(tmp_path / "a", ORIGIN)
    part.add(logged(selected=selected, cancelled=cancelled))
    part.close()
    events = [line.split("\t") for line in (tmp_path / "a").read_text().splitlines()]
    assert [event[6] for event in events] == actions
    assert {event[3] for event in events} == {make_user_id(0, "p")}
    assert not any("other" in event[7] for event in events), "the text of a suggestion"
    assert [int(event[0]) for event in events] == sorted(int(event[0]) for event in events)
