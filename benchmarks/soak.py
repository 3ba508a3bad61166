"""Does a long run leak? Two language servers, asked in turns 100,000 times, while their processes are killed at random.

python benchmarks/soak.py [--project SPEC] [--base ENGINE] [--new ENGINE] [--rounds N] [--every SECONDS] [--sessions N]

Prints means by quarter and slopes (least squares, without the first quarter) of memory, descriptors and processes, of
the whole tree, of the process that stays and of its workers, and what became of the sessions. Exits with 1 where one
has no status, or a process is left. Linux.
"""

from __future__ import annotations

import argparse
import ctypes
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path

import numpy as np

from ci_eval.core.model import Session
from ci_eval.core.workspace import Workspace

TICK = 1.0
"""Seconds between two samples."""
GRACE = 10.0
"""Seconds that a process has to end after the command."""
SUBREAPER = 36
WORKERS = 0.1
"""Share of the kills that hit a worker rather than one of the processes of an engine."""
FIGURES = (
    "memory of all, MB", "of the main process, MB", "of a worker, MB", "descriptors of all", "of the main process",
    "processes",
)  # fmt: skip


def parents() -> dict[int, int]:
    """Process → its parent, of all processes."""
    found = {}
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            # It may end while one looks.
            with suppress(OSError):
                found[int(folder.name)] = int((folder / "stat").read_text().rpartition(")")[2].split()[1])
    return found


def tree(root: int) -> dict[int, int]:
    """Process → its depth, of the root and everything below it."""
    known, depths = parents(), {root: 0}
    while new := {pid: depths[above] + 1 for pid, above in known.items() if above in depths and pid not in depths}:
        depths |= new
    return depths


def memory(pid: int) -> float:
    """Resident MB; 0 of a process that has ended."""
    with suppress(OSError, IndexError):
        return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6
    return 0.0


def descriptors(pid: int) -> int:
    """Open ones; 0 of a process that has ended."""
    with suppress(OSError):
        return sum(1 for _ in Path(f"/proc/{pid}/fd").iterdir())
    return 0


def sample(root: int) -> list[float]:
    """The FIGURES."""
    pids = tree(root)
    workers = [used for pid, depth in pids.items() if depth == 1 and not _helps(pid) and (used := memory(pid))]
    return [
        sum(map(memory, pids)), memory(root), sum(workers) / max(len(workers), 1), sum(map(descriptors, pids)),
        descriptors(root), len(pids),
    ]  # fmt: skip


def victim(root: int, chance: random.Random) -> int | None:
    """A worker, or something that a worker started; None while there is nothing like that."""
    depths = {pid: depth for pid, depth in tree(root).items() if depth and not _helps(pid)}
    workers = chance.random() < WORKERS
    found = sorted(pid for pid, depth in depths.items() if (depth == 1) == workers)
    return chance.choice(found) if found else None


def _helps(pid: int) -> bool:
    """Whether it is Python's own helper, which nobody would restart."""
    with suppress(OSError):
        return b"resource_tracker" in Path(f"/proc/{pid}/cmdline").read_bytes()
    return True


def watched(
    process: subprocess.Popen[bytes], unfinished: Path, every: float
) -> tuple[list[tuple[float, list[float]]], int]:
    """Samples with their times, and how many processes were killed, while engines are asked: the folder `unfinished` is
    there."""
    chance, samples, kills = random.Random(0), [], 0
    began = time.monotonic()
    due = began + every
    while process.poll() is None:
        time.sleep(TICK)
        if not unfinished.exists():
            continue
        samples.append((time.monotonic() - began, sample(process.pid)))
        if time.monotonic() >= due:
            due += chance.uniform(0.5, 1.5) * every
            if pid := victim(process.pid, chance):
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
                    kills += 1
    return samples, kills


def outcome(folder: Path) -> tuple[Counter[str], int, int]:
    """Statuses, lookups, and sessions that should have a status and have none."""
    workspace = Workspace.open(folder)
    manifest, statuses, lookups = workspace.manifest(), Counter[str](), 0
    for _, sessions in workspace.sessions(Session):
        for session in sessions:
            statuses[session.status.value] += 1
            lookups += len(session.lookups) * manifest.rounds
    return statuses, lookups, manifest.planned - statuses.total()


def quarters(samples: Sequence[tuple[float, list[float]]], number: int) -> str:
    """The means of a figure in each quarter of the run: what grows once, such as with the first file that is through
    all rounds, is no leak."""
    return ", ".join(f"{part.mean():,.0f}" for part in np.array_split([found[number] for _, found in samples], 4))


def slopes(samples: Sequence[tuple[float, list[float]]], lookups: int) -> Iterator[tuple[str, float, float, float]]:
    """Of each figure: its name, its mean, its slope per 10,000 lookups, and the standard error of that."""
    taken = samples[len(samples) // 4 : -3]
    times = np.array([at for at, _ in taken]) * lookups / (samples[-1][0] - samples[0][0]) / 10_000
    for number, name in enumerate(FIGURES):
        values = np.array([figures[number] for _, figures in taken])
        (slope, _), covariance = np.polyfit(times, values, 1, cov=True)
        yield name, float(values.mean()), float(slope), float(covariance[0, 0] ** 0.5)


def main() -> None:
    """See above."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--project", default="pypi:flask==3.0.3")
    parser.add_argument("--base", default="zuban")
    parser.add_argument("--new", default="ty")
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--every", type=float, default=5.0, help="seconds between two kills, on average")
    parser.add_argument("--sessions", type=int, default=4_400, help="each has about six lookups")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        output = Path(name, "o")
        keys = [f"interpret.sessionsLimit={given.sessions}", "actions.strategy.prefix.name=EveryPrefix"]
        command = [
            sys.executable, "-m", "ci_eval", "compare-engines", given.base, given.new, "--project", given.project,
            "--rounds", str(given.rounds), "--set", "interpret.allowedFailures=1.0", "--output", str(output),
            *(word for key in keys for word in ("--set", key)),
        ]  # fmt: skip
        # What loses its parent is then found below this process.
        ctypes.CDLL(None).prctl(SUBREAPER, 1)
        process = subprocess.Popen(command, stdout=sys.stderr)
        samples, kills = watched(process, output / "base" / "unfinished", given.every)
        if process.returncode:
            raise SystemExit(f"exit code {process.returncode}")
        found = [outcome(output / side) for side in ("base", "new")]
        time.sleep(GRACE)
        left = [pid for pid, depth in tree(os.getpid()).items() if depth and memory(pid)]
    lookups = sum(count for _, count, _ in found)
    print(f"{lookups:,} lookups in {samples[-1][0] - samples[0][0]:,.0f} s, {kills} processes killed")
    print("| | mean | by quarter | per 10,000 lookups | standard error |\n|---|--:|--:|--:|--:|")
    for number, (title, mean, slope, error) in enumerate(slopes(samples, lookups)):
        print(f"| {title} | {mean:,.1f} | {quarters(samples, number)} | {slope:+.2f} | {error:.2f} |")
    for name, (statuses, _, without) in zip((given.base, given.new), found, strict=True):
        print(f"{name}: {dict(statuses.most_common())}; without a status: {without}")
    print(f"processes left: {len(left)}")
    raise SystemExit(any(without for *_, without in found) or bool(left))


if __name__ == "__main__":
    main()
