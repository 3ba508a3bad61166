"""What confinement costs and changes: each verified engine with and without, over its project, in turns.

python benchmarks/confinement.py [ENGINE…] [--sessions N] [--rounds N] [--starts N]

In each round an engine is started, answers the same sessions and ends, within walls and without, one right after the
other. What is compared is the processor time of all its processes, from start to end: other work on the machine hardly
changes that. A session differs if its suggestions are others, or in another order, in any round; what differs between
rounds without walls is the engine's own doing.
"""

from __future__ import annotations

import argparse
import math
import os
import statistics
import subprocess
import tempfile
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from msgspec.structs import replace

from ci_eval.ci import Screen
from ci_eval.core import machine
from ci_eval.core.base.files import read_own
from ci_eval.core.catalogs import engines
from ci_eval.core.config import load, patch
from ci_eval.core.contracts import Surroundings
from ci_eval.core.grammar.document import Document, decode
from ci_eval.core.interpret.engines import KeptEngine
from ci_eval.core.interpret.player import Player
from ci_eval.core.interpret.selection import Share, plan
from ci_eval.core.model import Confine
from ci_eval.core.statistics.student import critical_values
from ci_eval.core.workspace import Workspace, read_actions
from ci_eval.jobs import pipeline, runs
from ci_eval.jobs.preparation import Prepared, prepare
from ci_eval.plugins.adapters.place import Place

CONFIGS = Path(__file__).parent.parent / "configs"
KINDS: tuple[Confine, ...] = ("off", "auto")

Answers = dict[str, list[list[str]]]
"""Session → what each of its lookups suggested, in order."""


def starts(rounds: int) -> tuple[float, float]:
    """Median milliseconds of a program that does nothing: by itself, and within walls."""
    surroundings = Surroundings(
        root=CONFIGS, language="", keywords=frozenset(), cache=CONFIGS, timeout=0, memory=0, confine="auto"
    )
    place = Place.new(CONFIGS, surroundings)
    place.renew()
    try:
        commands = ["/bin/true"], place.walls().around(["/bin/true"], 1)
        taken: tuple[list[float], list[float]] = ([], [])
        for _ in range(rounds):
            for command, times in zip(commands, taken, strict=True):
                began = time.perf_counter()
                subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
                times.append((time.perf_counter() - began) * 1000)
        return statistics.median(taken[0]), statistics.median(taken[1])
    finally:
        place.remove()


def sides(engine: str, language: str, folder: Path) -> list[tuple[Workspace, Prepared]]:
    """Without walls and within them: the actions of the language's project, and what asks about them."""
    overrides = ["interpret.sessionProbability=1", "project.dependencies=true", "interpret.timeout=60"]
    config = patch(load(CONFIGS / f"{language}.yaml", overrides=overrides).config, engine=engine)
    made = [prepare(replace(config, interpret=replace(config.interpret, confine=each)), Screen()) for each in KINDS]
    first = runs.begin(made[0], folder / KINDS[0], 1)
    pipeline.make_actions(first, made[0], 2, Screen())
    return [(first, made[0]), (runs.copy_actions(first, made[1], folder / KINDS[1], 1), made[1])]


class Taken(NamedTuple):
    """Seconds of processor time, from an engine's start on."""

    whole: float
    """Of all its processes."""
    supervisor: float
    """Of these, of those that watch the others, from the first answer to the last."""


def asked(workspace: Workspace, prepared: Prepared, sessions: int) -> tuple[Taken, Answers]:
    """What an engine took, and what it answered."""
    setup = prepared.setup
    engine = KeptEngine(setup)
    watching: dict[int, tuple[float, float]] = {}
    answers: Answers = {}
    before = os.times()
    try:
        for assignment in plan(workspace, setup, Share(limit=sessions)):
            text = decode(read_own(setup.surroundings.root, assignment.path))
            for session in Player(assignment, Document(text), engine).play(read_actions(assignment.actions).actions):
                answers[session.id] = [[found.text for found in lookup.suggestions] for lookup in session.lookups]
                for pid, seconds in supervisor_times().items():
                    watching[pid] = (watching.get(pid, (seconds, 0))[0], seconds)
        now = os.times()
        ended = now.children_user + now.children_system - before.children_user - before.children_system
        return Taken(
            processor_time(os.getpid()) + ended, sum(last - first for first, last in watching.values())
        ), answers
    finally:
        engine.close()


def processor_time(pid: int) -> float:
    """Seconds of all processes that descend from it, and of those that these have waited for."""
    fields = {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        # What ended while we looked is its parent's.
        with suppress(OSError):
            fields[int(path.parent.name)] = path.read_text(errors="replace").rpartition(")")[2].split()
    of, waiting = 0, [pid]
    while waiting:
        parent = waiting.pop()
        children = [each for each, known in fields.items() if int(known[1]) == parent]
        of += sum(int(ticks) for each in children for ticks in fields[each][11:15])
        waiting += children
    return of / os.sysconf("SC_CLK_TCK")


def supervisor_times() -> dict[int, float]:
    """Seconds of each of our children that watches an engine, by its id."""
    found = {}
    for child in Path(f"/proc/self/task/{os.getpid()}/children").read_text().split():
        process = Path("/proc", child)
        if b"ci_eval.plugins.drivers.confine" in (process / "cmdline").read_bytes():
            found[int(child)] = int((process / "schedstat").read_text().split()[0]) / 1e9
    return found


def differing(one: Answers, other: Answers) -> int:
    """Sessions that are not the same in both."""
    return sum(one.get(each) != other.get(each) for each in one.keys() | other.keys())


def row(of: Sequence[tuple[Workspace, Prepared]], sessions: int, rounds: int) -> str:
    """The cells of one engine."""
    seconds: tuple[list[float], list[float]] = ([], [])
    first: Answers = {}
    noise = differ = 0
    for number in range(rounds):
        # Who is first finds the files of the project unread.
        for side in (0, 1) if number % 2 else (1, 0):
            taken, answers = asked(*of[side], sessions)
            seconds[side].append(taken.whole)
            first = first or answers
            if side:
                differ = max(differ, differing(first, answers))
            else:
                noise = max(noise, differing(first, answers))
    return f"{len(first):,} | {differ} | {noise} | {statistics.fmean(seconds[0]):.1f} | {cost(*seconds)}"


def cost(free: Sequence[float], walls: Sequence[float]) -> str:
    """How many times as much within walls, with its 95 % interval over the rounds (Student)."""
    logs = [math.log(within / without) for without, within in zip(free, walls, strict=True)]
    mean, error = statistics.fmean(logs), statistics.stdev(logs) / math.sqrt(len(logs))
    half = float(critical_values(0.05, len(logs) - 1)) * error
    return f"{math.exp(mean):.3f} ({math.exp(mean - half):.3f} to {math.exp(mean + half):.3f})"


def main() -> None:
    """Print the cost of a start, then a line per engine as soon as it is known."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("engines", nargs="*")
    parser.add_argument("--sessions", type=int, default=500)
    parser.add_argument("--rounds", type=int, default=6)
    parser.add_argument("--starts", type=int, default=50)
    wanted = parser.parse_args()
    plain, walled = starts(wanted.starts)
    print(f"{machine.cpu()}, {machine.system()}\nstart: {plain:.0f} ms, within walls {walled:.0f} ms\n")
    names = "engine|language|sessions|differ|differ without walls|CPU s without walls|within walls / without"
    print(f"| {names.replace('|', ' | ')} |\n|---|---|--:|--:|--:|--:|--:|")
    for name in wanted.engines or engines.names():
        engine = engines.CATALOG.load(name)
        if not engine.verified or engine.languages is None:
            continue
        for language in sorted(engine.languages):
            with tempfile.TemporaryDirectory() as folder:
                cells = row(sides(name, language, Path(folder)), wanted.sessions, wanted.rounds)
            print(f"| {name} | {language} | {cells} |", flush=True)


if __name__ == "__main__":
    main()
