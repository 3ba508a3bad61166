"""What confinement costs and changes: each verified engine with and without, over its project, in turns.

python benchmarks/confinement.py [ENGINE…] [--sessions N] [--rounds N] [--starts N]

A session differs if its suggestions are others, or in another order. What differs between two runs without confinement
is the engine's own doing.
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import tempfile
import time
from pathlib import Path

from msgspec.structs import replace

from ci_eval import engines
from ci_eval.config import load, patch
from ci_eval.contracts import Surroundings
from ci_eval.jobs import pipeline
from ci_eval.jobs.preparing import prepare
from ci_eval.model import Confine, Session
from ci_eval.stages.interpret import interpret
from ci_eval.support import machine
from ci_eval.support.ci import Screen
from ci_eval.support.place import Place
from ci_eval.workspace import Workspace

CONFIGS = Path(__file__).parent.parent / "configs"

Answers = dict[str, list[list[str]]]
"""By session: what each lookup suggested, in order."""


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


class Bench:
    """One engine over one project."""

    def __init__(self, engine: str, language: str, sessions: int, folder: Path) -> None:
        overrides = [f"interpret.sessionsLimit={sessions}", "interpret.sessionProbability=1"]
        overrides.append("project.dependencies=true")
        self._config = patch(load(CONFIGS / f"{language}.yaml", overrides=overrides).config, engine=engine)
        self._folder = folder
        self._sessions = sessions
        self._made = 0
        self._source: Workspace | None = None

    def run(self, confine: Confine) -> tuple[float, Answers, str]:
        """Seconds spent waiting for the engine, what it answered, and how well it was confined."""
        config = replace(self._config, interpret=replace(self._config.interpret, confine=confine))
        prepared = prepare(config, Screen())
        self._made += 1
        folder = self._folder / str(self._made)
        if self._source is None:
            self._source = pipeline.begin(prepared, self._folder / "actions", 1)
            pipeline.make_actions(self._source, prepared, 2, Screen())
        workspace = pipeline.copy_actions(self._source, prepared, folder, 1)
        sums = interpret(
            workspace, prepared.setup, probability=1, limit=self._sessions, jobs=1, advance=lambda *_: None
        )
        answers = {
            each.id: [[found.text for found in lookup.suggestions] for lookup in each.lookups]
            for _, sessions in workspace.sessions(Session)
            for each in sessions
        }
        return sums.engine_time, answers, " / ".join(sums.confined)


def differing(one: Answers, other: Answers) -> int:
    """Sessions with other suggestions, or another order."""
    return sum(one[session] != other[session] for session in one)


def main() -> None:
    """Print the cost of a start, then a line per engine as soon as it is known."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("engines", nargs="*")
    parser.add_argument("--sessions", type=int, default=200)
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--starts", type=int, default=50)
    wanted = parser.parse_args()
    plain, walled = starts(wanted.starts)
    print(f"{machine.cpu()}, {machine.system()}\nstart: {plain:.0f} ms, within walls {walled:.0f} ms\n")
    print("| engine | language | sessions | differ | differ without walls | time within walls / without | confined |")
    print("|---|---|--:|--:|--:|--:|---|")
    for name in wanted.engines or engines.names():
        engine = engines.CATALOG.load(name)
        if not engine.verified or engine.languages is None:
            continue
        for language in sorted(engine.languages):
            with tempfile.TemporaryDirectory() as folder:
                bench = Bench(name, language, wanted.sessions, Path(folder))
                rounds = [(bench.run("off"), bench.run("auto"), bench.run("off")) for _ in range(wanted.rounds)]
            (free, walls, again) = rounds[0]
            ratios = [each[1][0] / statistics.fmean([each[0][0], each[2][0]]) for each in rounds]
            counts = f"{len(free[1]):,} | {differing(free[1], walls[1])} | {differing(free[1], again[1])}"
            print(f"| {name} | {language} | {counts} | {statistics.median(ratios):.3f} | {walls[2]} |", flush=True)


if __name__ == "__main__":
    main()
