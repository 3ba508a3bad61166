"""The engine of a worker: started when it is needed, and kept."""

from __future__ import annotations

from pathlib import Path

import pytest

from ci_eval.contracts import Installation, Running, Surroundings
from ci_eval.engines.words import Words
from ci_eval.errors import EngineCrash
from ci_eval.stages.interpret.engines import KeptEngine
from tests.fake import Fake
from tests.projects import setup


class Counted(Fake):
    """Starts at the second attempt, and cannot restart."""

    name = "counted"
    starts = 0

    def start(self, installation: Installation, surroundings: Surroundings) -> Running:
        self.starts += 1
        if self.starts == 1:
            raise OSError("out of luck")
        return Stubborn(surroundings)


class Stubborn(Words):
    """Cannot be restarted."""

    def restart(self) -> None:
        raise OSError("never")


def test_it_is_started_once_and_anew_where_it_cannot_be_restarted(tmp_path: Path) -> None:
    engine = Counted()
    kept = KeptEngine(setup(engine, tmp_path))
    with pytest.raises(EngineCrash, match="could not be started: out of luck"):
        kept.running()
    first = kept.running()
    assert kept.running() is first
    kept.restart()
    assert kept.running() is not first
    assert engine.starts == 3
