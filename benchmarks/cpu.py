"""The CPU time of a command and of all it starts, by kind of process.

python benchmarks/cpu.py [--rounds N] [--before FOLDER] -- python -m ci_eval evaluate … --output {}

Kinds: the command's own process, its workers, launchers and supervisors of engines, engines. The time is that of
/proc, looked at every INTERVAL_S seconds; a process that ends in between loses less than that. `{}` in the command
becomes a new folder for each run. `--before`: a second checkout of ci-eval, which takes turns with this one; its times
and the ratios of each pair follow.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path

from ci_eval.plugins.drivers.confine.calls import SUBREAPER, prctl

INTERVAL_S = 0.02
TICKS = os.sysconf("SC_CLK_TCK")
KINDS = ("main", "worker", "launcher", "engine")


def kind_of(pid: int, root: int, command: str) -> str:
    """Return the kind of a process, by its command line."""
    if pid == root:
        return "main"
    if "confine" in command and "--caller" in command:
        return "launcher"
    return "worker" if "multiprocessing" in command or "resource_tracker" in command else "engine"


def read_tree() -> Iterator[tuple[int, str, int]]:
    """Yield id, command line and ticks of each process below this one."""
    waiting = [os.getpid()]
    while waiting:
        pid = waiting.pop()
        # What ends meanwhile has been counted up to its last look.
        with suppress(OSError):
            for children in Path(f"/proc/{pid}/task").glob("*/children"):
                waiting += map(int, children.read_text().split())
        with suppress(OSError):
            _, _, fields = Path(f"/proc/{pid}/stat").read_text(errors="replace").rpartition(")")
            ticks = sum(map(int, fields.split()[11:13]))
            command = Path(f"/proc/{pid}/cmdline").read_bytes().decode(errors="replace")
            if pid != os.getpid() and command:
                yield pid, command, ticks


def cpu_of(command: Sequence[str], checkout: Path) -> dict[str, float]:
    """Return the seconds of CPU by kind, and the number of processes of engines. Ends if the command fails."""
    seconds, last, starts = defaultdict[str, float](float), dict[int, int](), set[int]()
    with tempfile.TemporaryDirectory() as temporary:
        argv = [part.replace("{}", f"{temporary}/run") for part in command]
        # `python -m` imports from the current folder first.
        process = subprocess.Popen(argv, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, cwd=checkout)
        while process.poll() is None:
            for pid, text, ticks in read_tree():
                kind = kind_of(pid, process.pid, text)
                seconds[kind] += (ticks - last.get(pid, 0)) / TICKS
                last[pid] = ticks
                # A launcher forks, and its child becomes the engine.
                if kind == "engine":
                    starts.add(pid)
            time.sleep(INTERVAL_S)
        if process.returncode:
            sys.exit((process.stderr.read() if process.stderr else b"").decode(errors="replace"))
    return seconds | {"engine processes": len(starts)}


def main() -> None:
    """Print a row per kind."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--before", type=Path)
    parser.add_argument("command", nargs="+")
    given = parser.parse_args()
    # Orphans, such as supervisors whose worker has ended, stay below this process.
    prctl(SUBREAPER)
    here = Path(__file__).parent.parent
    sides = {"now": here} | ({"before": given.before.absolute()} if given.before else {})
    rounds = [{name: cpu_of(given.command, checkout) for name, checkout in sides.items()} for _ in range(given.rounds)]
    print("| CPU, s | " + " | ".join((*sides, *(["ratio"] if given.before else []))) + " |")
    for kind in (*KINDS, "engine processes", "all", "outside of engines, %"):
        columns = {name: [figure(each[name], kind) for each in rounds] for name in sides}
        cells = [f"{statistics.median(column):.2f}" for column in columns.values()]
        if given.before:
            pairs = zip(columns["now"], columns["before"], strict=True)
            cells.append(f"{statistics.median(now / before if before else 1 for now, before in pairs):.2f}")
        print(f"| {kind} | {' | '.join(cells)} |")


def figure(seconds: dict[str, float], kind: str) -> float:
    """Return a row's figure of one run."""
    total = sum(seconds.get(name, 0.0) for name in KINDS)
    rows = {"all": total, "outside of engines, %": 100 * (1 - seconds.get("engine", 0.0) / total)}
    return rows[kind] if kind in rows else seconds.get(kind, 0.0)


if __name__ == "__main__":
    main()
