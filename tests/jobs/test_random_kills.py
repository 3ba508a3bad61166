"""SIGKILL at any moment, to anything that runs; then `--resume`: the run ends like one that nobody disturbed.

`CI_EVAL_KILL_ROUNDS=30` has each engine go through as many rounds; by default they go through a few.
"""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from ci_eval.core.model import Session, Status
from ci_eval.core.workspace import Workspace
from tests.projects import GREETER, sessions, timeless, write
from tests.tree import below, left_after, orphans_stay

ROUNDS = int(os.environ.get("CI_EVAL_KILL_ROUNDS", "2"))
VICTIMS = ("driver", "worker", "engine", "group")
MOMENTS = ("any", "first second", "report", "before it is a run")
"""When the kill comes: at random over the whole run, in its first second, while reports are written, or once its folder
is there and its configuration is not."""
ENGINES = ("jedi", "ty")
PATIENT = ("--set", "interpret.timeout=120")
"""On a machine with too much to do, a timeout is not the kill's."""

pytestmark = [
    pytest.mark.engine,
    pytest.mark.registry,
    pytest.mark.skipif(sys.platform != "linux", reason="looks for processes in /proc"),
]


@dataclass(frozen=True)
class Run:
    """One that nobody disturbs, and how long it takes."""

    engine: str
    project: Path
    folder: Path
    seconds: float = 0.0

    def command(self, *more: str) -> list[str]:
        asked = ["--project", f"path:{self.project}", "--engine", self.engine, "--output", str(self.folder)]
        return [sys.executable, "-m", "ci_eval", "evaluate", *asked, "--jobs", "2", *PATIENT, *more]


@pytest.fixture(scope="module", params=ENGINES)
def whole(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Run:
    folder = tmp_path_factory.mktemp("kills")
    project = write(folder / "p", **{f"file{i}__py": GREETER + f"x{i} = {i}\nprint(x{i})\n" for i in range(6)})
    run = Run(request.param, project, folder / "whole")
    started = time.monotonic()
    subprocess.run(run.command(), check=True, capture_output=True, timeout=600)
    return Run(run.engine, project, run.folder, time.monotonic() - started)


@pytest.fixture(autouse=True)
def nothing_is_left(whole: Run) -> Iterator[None]:
    known = set(below(os.getpid()))
    with orphans_stay():
        yield
        assert left_after(known, seconds=30) == []


# Several workers share the rounds: what they have in common is little, and each of them takes long.
@pytest.mark.parametrize(
    "number", [pytest.param(number, marks=pytest.mark.xdist_group(f"kills {number}")) for number in range(ROUNDS)]
)
def test_a_killed_run_ends_like_one_that_nobody_disturbed(whole: Run, tmp_path: Path, number: int) -> None:
    chance = random.Random(f"{whole.engine} {number}")
    turn = number + 2 * ENGINES.index(whole.engine)
    victim, moment = VICTIMS[turn % len(VICTIMS)], MOMENTS[turn // len(VICTIMS) % len(MOMENTS)]
    run = Run(whole.engine, whole.project, tmp_path / "killed")
    driver = subprocess.Popen(
        run.command(), start_new_session=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    await_moment(moment, driver, run, whole, chance)
    kill(driver, victim, chance)
    driver.wait(timeout=600)
    # Of what was killed before it was a run, the options are all that is known, and enough.
    resumed = subprocess.run(run.command("--resume"), capture_output=True, text=True, timeout=600, check=False)
    assert resumed.returncode in {0, 5 if victim == "engine" else 0}, resumed.stderr
    same(run, whole, engine_killed=victim == "engine")


def await_moment(moment: str, driver: subprocess.Popen[bytes], run: Run, whole: Run, chance: random.Random) -> None:
    """Wait until the kill is to come, or the run has ended."""
    if moment == "any":
        time.sleep(chance.random() * whole.seconds)
    elif moment == "first second":
        time.sleep(chance.random())
    else:
        awaited = run.folder / "reports" if moment == "report" else run.folder
        while driver.poll() is None and not awaited.exists():
            time.sleep(0.001)
        if moment == "report":
            time.sleep(chance.random() / 4)


def kill(driver: subprocess.Popen[bytes], victim: str, chance: random.Random) -> None:
    """The driver, its group, another process in it, or one below that has left it; if there is none yet, soon."""
    if victim == "driver":
        driver.kill()
    elif victim == "group":
        os.killpg(driver.pid, signal.SIGKILL)
    while victim in {"worker", "engine"} and driver.poll() is None:
        found = below(driver.pid)
        if wanted := sorted(pid for pid, group in found.items() if (group == driver.pid) == (victim == "worker")):
            # What has ended since it was listed is none; then another one is looked for.
            with suppress(ProcessLookupError):
                os.kill(chance.choice(wanted), signal.SIGKILL)
                return
        time.sleep(0.01)


def same(run: Run, whole: Run, *, engine_killed: bool) -> None:
    """Compare all but the session that crashed with its engine, when it was asked first or again, and what is made of
    it."""
    assert contents(run.folder / "actions") == contents(whole.folder / "actions")
    assert not (run.folder / "unfinished").exists()
    assert not list(run.folder.rglob("*.tmp"))
    ended = sessions(Workspace(run.folder))
    crashed = {session.id for session in ended if Status.ENGINE_CRASH in statuses(session)}
    assert len(crashed) <= engine_killed
    assert [session.id for session in ended] == [session.id for session in sessions(Workspace(whole.folder))]
    # A crash when a session is asked again is another answer, so more sessions of its file are asked again.
    once = any(session.status != Status.ENGINE_CRASH for session in ended if session.id in crashed)
    resumed, undisturbed = (timeless(folder, without=crashed, once=once) for folder in (run.folder, whole.folder))
    assert [first_difference(*pair) for pair in zip(resumed, undisturbed, strict=True) if pair[0] != pair[1]] == []
    if not crashed:
        assert contents(run.folder / "errors") == contents(whole.folder / "errors")
        assert figures(run.folder) == figures(whole.folder)


def statuses(session: Session) -> set[Status]:
    """Return how the session ended, each time that it was asked."""
    return {session.status, *(other.status for other in session.otherwise)}


def first_difference(one: bytes, other: bytes) -> tuple[bytes, bytes]:
    """Return what stands around the first byte that differs: whole sessions would fill pages of CI's log."""
    at = next((at for at, pair in enumerate(zip(one, other, strict=False)) if pair[0] != pair[1]), len(one))
    return one[:24] + b" ... " + one[max(0, at - 60) : at + 60], other[max(0, at - 60) : at + 60]


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def figures(folder: Path) -> object:
    """What is reported, but for what tells of time, and for what the git that reads the revision said if it was
    killed."""
    reported = json.loads((folder / "reports" / "metrics.json").read_text())
    return without({"started", "PeakMemory", "revision"}, reported)


def without(keys: set[str], value: Any) -> object:
    if isinstance(value, dict):
        of_time = ("Latency", "Within", "Cpu")
        kept = {key: of for key, of in value.items() if key not in keys and not any(word in key for word in of_time)}
        return {key: without(keys, each) for key, each in kept.items()}
    return [without(keys, each) for each in value] if isinstance(value, list) else value
