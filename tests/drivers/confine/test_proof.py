"""What is open is found by trying it."""

from __future__ import annotations

import os
from pathlib import Path

from ci_eval.drivers.confine.proof import FAMILIES, sentence, still_open


def test_without_walls_everything_of_ones_own_is_open(tmp_path: Path) -> None:
    canary = tmp_path / "canary"
    canary.write_text("x")
    found = still_open(str(canary), os.getpid())
    assert {"reading files", "writing files", "listing folders", "signals"} <= set(found)
    assert {"TCP", "UDP", "Unix sockets"} <= set(found) & set(FAMILIES)


def test_the_sentence_names_walls_and_what_they_leave_open() -> None:
    assert sentence(["landlock 6", "seccomp"], [], []) == "landlock 6 + seccomp, nothing found open"
    assert sentence(["seccomp"], ["signals"], ["old kernel"]) == "seccomp; open: signals (old kernel)"
    assert sentence([], ["signals"], ["not Linux"]) == "not confined: not Linux"
