"""What confinement costs and changes: each verified engine with and without, over its project, in turns.

python benchmarks/confinement.py [ENGINE…] [--sessions N] [--rounds N] [--starts N]

Both answer the same sessions, file by file in turns and in several rounds, so that what else the machine does meets
both. A session differs if its suggestions are others, or in another order; what differs between rounds without walls
is the engine's own doing.
"""

from __future__ import annotations

import argparse
import math
import statistics
import subprocess
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from msgspec.structs import replace

from ci_eval import engines, machine
from ci_eval.adapters.place import Place
from ci_eval.ci import Screen
from ci_eval.config import load, patch
from ci_eval.contracts import Surroundings
from ci_eval.jobs import pipeline
from ci_eval.jobs.compare_engines import begun
from ci_eval.jobs.preparation import prepare
from ci_eval.model import Confine, Session
from ci_eval.statistics.student import errors_at

CONFIGS = Path(__file__).parent.parent / "configs"


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


def asked(engine: str, language: str, sessions: int, rounds: int, folder: Path) -> tuple[list[Session], ...]:
    """What it answered without walls, and within them: the same files in turns, `rounds` times."""
    overrides = [f"interpret.sessionsLimit={sessions}", "interpret.sessionProbability=1", "project.dependencies=true"]
    config = patch(load(CONFIGS / f"{language}.yaml", overrides=overrides).config, engine=engine)
    kinds: tuple[Confine, ...] = ("off", "auto")
    sides = [replace(config, interpret=replace(config.interpret, confine=confine)) for confine in kinds]
    prepared = [prepare(side, Screen()) for side in sides]
    free, walls = begun(prepared, folder, jobs=1, rounds=rounds, resume=False, screen=Screen())
    pipeline.make_sessions([(free, prepared[0]), (walls, prepared[1])], 1, Screen())
    return tuple([each for _, found in workspace.sessions(Session) for each in found] for workspace in (free, walls))


def answers(session: Session) -> list[list[str]]:
    """What each lookup suggested, in order."""
    return [[found.text for found in lookup.suggestions] for lookup in session.lookups]


def cost(free: Sequence[Session], walls: Sequence[Session]) -> str:
    """How many times as long an answer takes within walls, and its 95 % interval over the sessions.

    Each session counts by the median of its rounds; those that failed do not.
    """
    pairs = [
        (one.lookups[0].latency, other.lookups[0].latency)
        for one, other in zip(free, walls, strict=True)
        if one.lookups and other.lookups
    ]
    logs = [math.log(within / without) for without, within in pairs if without and within]
    mean, error = statistics.fmean(logs), statistics.stdev(logs) / math.sqrt(len(logs))
    half = float(errors_at(0.05, len(logs) - 1)) * error
    return f"{math.exp(mean):.3f} ({math.exp(mean - half):.3f} to {math.exp(mean + half):.3f})"


def row(free: Sequence[Session], walls: Sequence[Session]) -> str:
    """The cells of one engine."""
    differ = sum(answers(one) != answers(other) for one, other in zip(free, walls, strict=True))
    noise = sum(bool(each.differing) for each in free)
    return f"{len(free):,} | {differ} | {noise} | {cost(free, walls)}"


def main() -> None:
    """Print the cost of a start, then a line per engine as soon as it is known."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("engines", nargs="*")
    parser.add_argument("--sessions", type=int, default=200)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--starts", type=int, default=50)
    wanted = parser.parse_args()
    plain, walled = starts(wanted.starts)
    print(f"{machine.cpu()}, {machine.system()}\nstart: {plain:.0f} ms, within walls {walled:.0f} ms\n")
    print("| engine | language | sessions | differ | differ without walls | time within walls / without |")
    print("|---|---|--:|--:|--:|--:|")
    for name in wanted.engines or engines.names():
        engine = engines.CATALOG.load(name)
        if not engine.verified or engine.languages is None:
            continue
        for language in sorted(engine.languages):
            with tempfile.TemporaryDirectory() as folder:
                free, walls = asked(name, language, wanted.sessions, wanted.rounds, Path(folder))
            print(f"| {name} | {language} | {row(free, walls)} |", flush=True)


if __name__ == "__main__":
    main()
