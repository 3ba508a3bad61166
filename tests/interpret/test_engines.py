"""The engine of a worker: started when it is needed, and kept."""

from __future__ import annotations

import time
from contextlib import suppress
from pathlib import Path

import pytest

from ci_eval.core.base.errors import EngineCrash, EngineUnstarted
from ci_eval.core.contracts import Installation, Running, Surroundings
from ci_eval.core.interpret.engines import KeptEngine
from ci_eval.core.machine import read_peak_memory
from ci_eval.plugins.engines.controls import Words
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


class Slow(Fake):
    """Takes 50 ms to start."""

    name = "slow"
    own_process = False

    def start(self, installation: Installation, surroundings: Surroundings) -> Running:
        time.sleep(0.05)
        return Words(surroundings)


def test_a_start_lasts_until_the_first_answer_whatever_happens_between_questions(tmp_path: Path) -> None:
    kept = KeptEngine(setup(Slow(), tmp_path))
    with suppress(EngineCrash), kept.asked:
        kept.running()
        raise EngineCrash("no answer yet")
    time.sleep(0.5)
    for _ in range(2):
        with kept.asked:
            time.sleep(0.05)
    (took,) = kept.footprint(alone=True).start_ups
    assert 100 <= took < 500
    assert kept.footprint(alone=True).start_ups == ()


def test_memory_of_the_worker_is_that_of_an_engine_in_it_which_is_alone(tmp_path: Path) -> None:
    kept = KeptEngine(setup(Slow(), tmp_path))
    assert kept.footprint(alone=True).memory is None
    kept.running()
    assert kept.footprint(alone=False).memory is None
    found = kept.footprint(alone=True)
    assert (found.of_worker, found.weighed) == (True, 1)
    assert found.memory == read_peak_memory("self")


def test_one_that_never_starts_is_given_up_after_two_starts(tmp_path: Path) -> None:
    kept = KeptEngine(setup(Slow(), tmp_path))
    for _ in range(2):
        with suppress(EngineUnstarted), kept.asked:
            kept.running()
            raise EngineUnstarted("no answer to `initialize`")
        kept.restart()
    with pytest.raises(EngineCrash, match="given up after 2 starts that failed: no answer to `initialize`"):
        kept.running()


class Loading(Words):
    """Has waited, and was not ready in time after one of its starts."""

    idle = 0.0
    total = 0.0

    def waited(self) -> tuple[float, int]:
        return self.total, 1


class Loads(Fake):
    """Starts such an engine."""

    name = "loads"

    def start(self, installation: Installation, surroundings: Surroundings) -> Running:
        return Loading(surroundings)


def test_what_was_waited_for_is_in_the_footprint_once(tmp_path: Path) -> None:
    kept = KeptEngine(setup(Loads(), tmp_path))
    running = kept.running()
    assert isinstance(running, Loading)
    running.total = 2.0
    first = kept.footprint(alone=True)
    running.total = 3.0
    kept.close()
    second = kept.footprint(alone=True)
    assert [(each.waited, each.unready) for each in (first, second)] == [(2.0, 1), (1.0, 0)]
