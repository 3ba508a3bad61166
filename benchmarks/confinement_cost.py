"""What confinement adds to a run: the share of an engine's processor time, from its parts.

python benchmarks/confinement_cost.py [ENGINE…] [--sessions N] [--rounds N]

Two runs that are compared as a whole differ by some percent for reasons of their own, so the parts are measured, each
where it can be seen:

- what one call of the system costs more within walls: loops of calls, with walls and without in turns (`--rounds`);
- how many calls the engine makes: `strace` counts them while the sessions are asked. Ours are among them, too;
- what the supervisor takes, which looks at the engine's memory twice a second: the kernel's own count.

What Landlock looks at is taken to cost as much as opening a file; the other calls pass the filter alone.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from confinement import CONFIGS, asked, sides

from ci_eval.core import machine
from ci_eval.core.catalogs import engines
from ci_eval.core.contracts import Surroundings
from ci_eval.plugins.adapters.place import Place

LOOPS = """
import json, os, time
def each(call, times):
    began = time.process_time_ns()
    for _ in range(times):
        call()
    return (time.process_time_ns() - began) / times
print(json.dumps([
    each(os.getppid, 300_000),
    each(lambda: os.close(os.open(json.__file__, os.O_RDONLY)), 60_000),
]))
"""
OF_PATHS = ("open", "unlink", "mkdir", "rmdir", "rename", "link", "mknod", "truncate", "exec")
"""In the names of calls whose path Landlock looks at; it lets every process look at what is there (`stat`)."""


def extra(rounds: int) -> tuple[float, float]:
    """Nanoseconds that a call costs more within walls: one without a path, and one that opens a file and closes it."""
    surroundings = Surroundings(
        root=CONFIGS, language="", keywords=frozenset(), cache=CONFIGS, timeout=0, memory=0, confine="required"
    )
    place = Place.new(CONFIGS, surroundings)
    place.renew()
    free = [sys.executable, "-I", "-c", LOOPS]
    walled = place.walls(sys.executable).around(free, 2)
    try:
        differences = []
        for _ in range(rounds):
            without, within = (_last_line(command) for command in (free, walled))
            differences.append([more - less for less, more in zip(without, within, strict=True)])
    finally:
        place.remove()
    plain, opened = (statistics.median(each) for each in zip(*differences, strict=True))
    return plain, opened


def _last_line(command: list[str]) -> list[float]:
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    found: list[float] = json.loads(done.stdout.splitlines()[-1])
    return found


@contextmanager
def counted(counts: dict[str, int]) -> Iterator[None]:
    """Count the calls of this process and of those that it starts meanwhile, by name."""
    with tempfile.NamedTemporaryFile("r") as file:
        command = ["strace", "-f", "-c", "-U", "calls,name", "-o", file.name, "-p", str(os.getpid())]
        tracer = subprocess.Popen(command, stderr=subprocess.DEVNULL)
        while "TracerPid:\t0\n" in Path("/proc/self/status").read_text():
            time.sleep(0.01)
        try:
            yield
        finally:
            tracer.send_signal(signal.SIGINT)
            tracer.wait()
        for line in file:
            calls, _, name = line.strip().partition(" ")
            if calls.isdecimal() and name.strip() != "total":
                counts[name.strip()] = int(calls)


def cost(engine: str, language: str, sessions: int, plain: float, opened: float) -> str:
    """The cells of one engine."""
    with tempfile.TemporaryDirectory() as folder:
        _, (workspace, prepared) = sides(engine, language, Path(folder))
        taken, _ = asked(workspace, prepared, sessions)
        counts: dict[str, int] = {}
        with counted(counts):
            asked(workspace, prepared, sessions)
    of_paths = sum(calls for name, calls in counts.items() if any(part in name for part in OF_PATHS))
    others = sum(counts.values()) - of_paths
    calls = (others * plain + of_paths * opened) / 1e9
    share = (calls + taken.supervisor) / taken.whole
    return f"{others:,} | {of_paths:,} | {calls:.3f} | {taken.supervisor:.3f} | {taken.whole:.1f} | {share:.2%}"


def main() -> None:
    """Print what a call costs, then a line per engine as soon as it is known."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("engines", nargs="*")
    parser.add_argument("--sessions", type=int, default=500)
    parser.add_argument("--rounds", type=int, default=9)
    wanted = parser.parse_args()
    plain, opened = extra(wanted.rounds)
    print(f"{machine.cpu()}, {machine.system()}")
    print(f"within walls a call costs {plain:.0f} ns more, and to open a file and close it {opened:.0f} ns\n")
    names = "engine|language|calls|calls with a path|CPU s of both calls|CPU s of the supervisor|CPU s of all|share"
    print(f"| {names.replace('|', ' | ')} |\n|---|---|--:|--:|--:|--:|--:|--:|")
    for name in wanted.engines or engines.names():
        engine = engines.CATALOG.load(name)
        if engine.verified and engine.languages is not None and engine.own_process:
            for language in sorted(engine.languages):
                print(f"| {name} | {language} | {cost(name, language, wanted.sessions, plain, opened)} |", flush=True)


if __name__ == "__main__":
    main()
