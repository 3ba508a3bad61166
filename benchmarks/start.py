"""How long it takes to start: CPU seconds of the command line and of a worker, beside what they took before.

python benchmarks/start.py [--rounds N]

Before, the command line imported all commands for any of them, and a worker imported the command line once more.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
from collections.abc import Sequence

HELP = "import sys; sys.argv = ['ci-eval', '--help']; from ci_eval.cli import main; main()"
ALL = "from importlib import import_module; from ci_eval.cli.group import COMMANDS; "
ALL += "[import_module(f'ci_eval.cli.{name}') for name in COMMANDS]"
WORKER = "import ci_eval.core.interpret.worker"
PROGRAMS = {
    "Python alone": "pass",
    "ci-eval --help": HELP,
    "ci-eval --help, before": f"{ALL}; {HELP}",
    "worker": WORKER,
    "worker, before": f"{ALL}; {WORKER}",
}


def cpu_of(program: str) -> float:
    """CPU seconds, user and system, of a Python that runs the program."""
    process = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.DEVNULL)
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"exit code {process.returncode}: {program}")
    return used.ru_utime + used.ru_stime


def measured(programs: Sequence[str], rounds: int) -> list[list[float]]:
    """Of each round the CPU seconds of each program; the programs take turns. The first round is not counted."""
    return [[cpu_of(program) for program in programs] for _ in range(rounds + 1)][1:]


def main() -> None:
    """Print the medians, and before/after as a ratio."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=7)
    times = measured(list(PROGRAMS.values()), parser.parse_args().rounds)
    taken = dict(zip(PROGRAMS, zip(*times, strict=True), strict=True))
    for name, seconds in taken.items():
        print(f"{name:24} {statistics.median(seconds):6.3f} s CPU")
    for name in ("ci-eval --help", "worker"):
        ratios = [before / after for before, after in zip(taken[f"{name}, before"], taken[name], strict=True)]
        print(f"{name}: before / after {statistics.median(ratios):.1f}")


if __name__ == "__main__":
    main()
