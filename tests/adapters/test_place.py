"""Where an engine's process runs, and how well it is confined there."""

from __future__ import annotations

from ci_eval.adapters.confinement import NOTHING_OPEN
from ci_eval.adapters.place import confinement_of


def test_what_this_machine_offers_is_found_by_trying(complete_walls: None) -> None:
    assert confinement_of("auto").endswith(NOTHING_OPEN)
    assert confinement_of("off") == "not confined: interpret.confine is off"
