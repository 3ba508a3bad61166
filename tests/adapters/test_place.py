"""Where an engine's process runs, and how well it is confined there."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from ci_eval.plugins.adapters.confinement import NOTHING_OPEN, Walls
from ci_eval.plugins.adapters.place import measure_confinement


def test_what_this_machine_offers_is_found_by_trying(complete_walls: None) -> None:
    assert measure_confinement("auto").endswith(NOTHING_OPEN)
    assert measure_confinement("off") == "not confined: interpret.confine is off"


@pytest.mark.parametrize(("silent", "found"), [(1, "not confined: interpret.confine is off"), (2, "it did not start")])
def test_a_program_that_ends_before_it_can_tell_is_tried_once_more(
    monkeypatch: pytest.MonkeyPatch, silent: int, found: str
) -> None:
    within, started = Walls.around, list[int]()

    def around(walls: Walls, command: Sequence[str], report: int) -> list[str]:
        started.append(report)
        return ["true"] if len(started) <= silent else list(within(walls, command, report))

    monkeypatch.setattr(Walls, "around", around)
    assert measure_confinement("off").endswith(found)
    assert len(started) == 2
