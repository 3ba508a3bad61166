"""What a run costs when four machines share it: CPU seconds of the shards, of their merge, and of one run.

python benchmarks/shards.py [--project SPEC] [--engine NAME] [--set KEY=VALUE]... [--shards N] [--rounds N]

Three ways take turns: one run; stage 1 once, handed on to shards; and shards that each do stage 1 for themselves.
Beside them: how even the deal is, and how even it was when the shard of a file was drawn from its path.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Mapping, Sequence
from hashlib import blake2b
from pathlib import Path

from ci_eval.core.base.shards import deal
from ci_eval.core.workspace import Workspace

BIG = 2_000


def cpu_of(*arguments: object) -> float:
    """CPU seconds, user and system, of a command of ci-eval and everything that it starts."""
    command = [sys.executable, "-m", "ci_eval", *map(str, arguments)]
    with tempfile.TemporaryFile() as said:
        process = subprocess.Popen(command, stdout=said, stderr=said)
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        said.seek(0)
        if process.returncode:
            raise SystemExit(f"exit code {process.returncode}: {' '.join(command)}\n{said.read().decode()}")
    return used.ru_utime + used.ru_stime


def drawn(sessions: Mapping[str, int], of: int) -> dict[str, int]:
    """As before: by the path, but large files one after the other to the shard that has least of them."""
    load, dealt = [0] * of, {}
    for path, size in sorted(sessions.items(), key=lambda each: (-each[1], each[0])):
        place = int.from_bytes(blake2b(path.encode(), digest_size=8).digest(), "big") % of
        if size >= BIG:
            place = min(range(of), key=lambda shard: (load[shard], shard))
            load[place] += size
        dealt[path] = place + 1
    return dealt


def unevenness(loads: Sequence[int], of: int) -> float:
    """The fullest shard / the mean."""
    return max(loads) * of / sum(loads)


def deals(workspace: Path, of: int) -> str:
    """How even the deals are."""
    sessions = {each.path: each.sessions for each in Workspace(workspace).action_heads()}
    now, before = Counter[int](), Counter[int]()
    for path, shares in deal(sessions, of).items():
        now.update({shard: len(places) for shard, places in shares.items()})
        before[drawn(sessions, of)[path]] += sessions[path]
    was, is_now = (unevenness([*loads.values()], of) for loads in (before, now))
    return f"sessions, max / mean: {was:.3f} before, {is_now:.3f} now"


def main() -> None:
    """Print the medians and ratios."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--project", default="pypi:flask==3.0.3")
    parser.add_argument("--engine", default="words")
    parser.add_argument("--set", dest="keys", action="append", default=[])
    parser.add_argument("--shards", type=int, default=4)
    parser.add_argument("--rounds", type=int, default=3)
    given = parser.parse_args()
    keys = [word for key in given.keys for word in ("--set", key)]
    run = ("--project", given.project, "--engine", given.engine, "--jobs", 1, *keys)
    whole = () if given.keys else ("--all",)
    numbers = range(1, given.shards + 1)
    times: dict[str, list[float]] = {"one run": [], "stage 1 handed on": [], "stage 1 in each": [], "merge": []}
    for number in range(given.rounds):
        with tempfile.TemporaryDirectory() as folder:
            at = [Path(folder, str(shard)) for shard in numbers]
            times["one run"].append(cpu_of("evaluate", *run, *whole, "--output", Path(folder, "whole")))
            once = cpu_of("actions", *run, "--output", Path(folder, "actions"))
            asked = ("interpret", Path(folder, "actions"), "--jobs", 1, "--shard")
            each = [cpu_of(*asked, f"{i}/{len(at)}", "--output", at[i - 1]) for i in numbers]
            times["stage 1 handed on"].append(once + sum(each))
            times["merge"].append(cpu_of("merge", *at, "--output", Path(folder, "merged")))
            shards = [("--shard", f"{i}/{len(at)}", "--output", f"{at[i - 1]}e") for i in numbers]
            each = [cpu_of("evaluate", *run, *whole, *shard) for shard in shards]
            times["stage 1 in each"].append(sum(each))
            if not number:
                print(deals(Path(folder, "whole"), len(at)))
    for name, seconds in times.items():
        print(f"{name:18} {statistics.median(seconds):7.1f} s CPU")
    for name in ("stage 1 handed on", "stage 1 in each"):
        ratios = [
            (ours + merge) / one for ours, merge, one in zip(times[name], times["merge"], times["one run"], strict=True)
        ]
        print(f"{name}, with the merge: {statistics.median(ratios):.2f} x one run")


if __name__ == "__main__":
    main()
