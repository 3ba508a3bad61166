"""A recording in any format: what is typed, and what histories come of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from ci_eval.plugins.mining.usages.histories import Mined, Miner, Recording, Snapshot
from ci_eval.plugins.mining.usages.languages import CATALOG as LANGUAGES
from ci_eval.plugins.mining.usages.streams import CATALOG

TEXT = "from a import Box\ndef put():\n    box = Box()\n"
MORE = "    box.open()\n"
END = TEXT + MORE
STATES: list[Sequence[str] | None] = [(), ("open",)]
"""The calls of Box in the states of the history, of a recording of TEXT and then MORE."""


def snapshots(name: str, path: Path) -> tuple[list[Snapshot], Counter[str]]:
    """What a format reads."""
    recording = Recording(ends=(".py",))
    return list(CATALOG.load(name).read(path, recording)), recording.skipped


def states(name: str, path: Path, type_: str = "a.Box") -> list[Sequence[str] | None]:
    """The calls in the states of the only history of a type."""
    found = Mined()
    Miner(dialect=LANGUAGES.load("python")).mine(snapshots(name, path)[0], found)
    (history,) = [each for each in found.histories if each.type == type_]
    return [state.calls if state else None for state in history.states]
