"""This checkout beside an earlier commit: CPU seconds of the same commands of `ci-eval`, in turns.

python benchmarks/beside.py [--commit REVISION] [--rounds N] [ENGINE…]

Stage 1, beside parsing alone; what it takes to play large files; a report of many sessions; and, for each ENGINE (jedi
and zuban), which share of a run's CPU is not the engine's, but that of workers and of the process that starts them. The
earlier commit is checked out into a folder of its own, and runs by this Python and its packages, so that it has to get
along with them. Linux, with git and its history.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import sysconfig
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from itertools import cycle
from pathlib import Path

from soak import memory, tree

from ci_eval.core.grammar.syntax import parser

HERE = Path(__file__).parents[1]
FIRST = "e222231~1"
"""Before the work on speed that `docs/benchmarks.md` is about."""
PYTHON = ("--language", "python", "--jobs", 1, "--set", "actions.strategy.prefix.name=NoPrefix")
"""The same sessions in both: what is typed when nothing else is said has changed."""
LOOK = 0.1
"""Seconds between two looks at what processes have used."""
MEGABYTES = (0.25, 0.5, 1.0)
"""Sizes of the large files."""
LARGEST = 20.0
"""The same, for this checkout alone."""
SESSIONS = 100_000
"""Of the reports."""
SESSIONS_OF = {"zuban": 5_000}
"""Sessions of an engine so fast that otherwise one would measure little but starts."""
PLAY = """
import sys, time
from pathlib import Path
from ci_eval.core.grammar.document import Document
from ci_eval.core.model import DeleteRange, MoveCaret, PrintText
from ci_eval.core.workspace import read_actions
actions = read_actions(Path(sys.argv[1])).actions
document = Document(Path(sys.argv[2]).read_text())
began = time.process_time()
for action in actions:
    match action:
        case MoveCaret():
            document.move(action.offset)
        case DeleteRange():
            document.delete(action.begin, action.end)
        case PrintText():
            document.insert(action.text)
print(time.process_time() - began)
"""
"""What a player does with the actions where no session was drawn."""

GENERATE = """
import sys
from pathlib import Path
from compare_scale import generate
generate(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[2]) // 1_000, new=False)
"""
"""Makes a workspace with so many sessions, a thousand in each file."""


@dataclass(frozen=True)
class Used:
    """What a command took."""

    own: float
    """CPU seconds, user and system, of the command and its workers."""
    engine: float
    """The same, of all other processes that it started."""
    memory: float
    """The most MB that were resident in all of them together."""

    @property
    def all_(self) -> float:
        """CPU seconds of all processes."""
        return self.own + self.engine


@contextmanager
def checkout(revision: str) -> Iterator[Path]:
    """A folder with the files of that commit."""
    with tempfile.TemporaryDirectory() as folder:
        packed = subprocess.run(["git", "archive", revision], cwd=HERE, check=True, stdout=subprocess.PIPE).stdout
        subprocess.run(["tar", "-x", "-C", folder], input=packed, check=True)
        yield Path(folder)


def environment(*folders: Path) -> dict[str, str]:
    """In which Python finds modules in these folders first, and its workers do."""
    return os.environ | {"PYTHONPATH": os.pathsep.join(map(str, folders))}


def of_process(pid: int) -> tuple[bool, float]:
    """Whether it is ci-eval's own, and its CPU seconds so far. Raises ValueError where it has ended."""
    command = Path(f"/proc/{pid}/cmdline").read_bytes()
    if not command:
        raise ValueError(f"{pid} has ended")
    user, system = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[11:13]
    is_own = b"ci_eval\0" in command or b"from multiprocessing" in command
    return is_own, (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")


def used(source: Path, *arguments: object) -> Used:
    """By a command of the ci-eval in that folder; ends the program where it fails."""
    command = [sys.executable, "-m", "ci_eval", *map(str, arguments)]
    seen: dict[int, tuple[bool, float]] = {}
    most = 0.0
    with tempfile.TemporaryFile() as said:
        process = subprocess.Popen(command, cwd=source, env=environment(source), stdout=said, stderr=said)
        # Who has started an engine need not have waited for it: the kernel's sum would not have it.
        while process.poll() is None:
            pids = tree(process.pid)
            most = max(most, sum(map(memory, pids)))
            for pid in pids:
                # It may end while one looks.
                with suppress(OSError, ValueError):
                    seen[pid] = of_process(pid)
            time.sleep(LOOK)
        said.seek(0)
        if process.returncode:
            raise SystemExit(f"exit code {process.returncode}: {' '.join(command)}\n{said.read().decode()}")
    own, engine = (sum(seconds for is_own, seconds in seen.values() if is_own is whose) for whose in (True, False))
    return Used(own, engine, most)


class Sides:
    """Both checkouts, asked in turns."""

    def __init__(self, earlier: Path, rounds: int) -> None:
        self.earlier, self.rounds = earlier, rounds

    def turns(self, *arguments: object) -> Iterator[tuple[Used, Used]]:
        """Of each round: what the command took of the earlier one, and what it takes of this one."""
        for _ in range(self.rounds):
            with tempfile.TemporaryDirectory() as folder:
                before = used(self.earlier, *arguments, "--output", Path(folder, "before"))
                yield before, used(HERE, *arguments, "--output", Path(folder, "now"))


def ratio(before: Sequence[float], now: Sequence[float]) -> str:
    """The median over the rounds, and those of the rounds."""
    each = [earlier / later for earlier, later in zip(before, now, strict=True)]
    return f"before / now {statistics.median(each):.2f}  ({', '.join(f'{value:.2f}' for value in each)})"


def parsing(files: Sequence[Path]) -> float:
    """CPU seconds of the parser alone."""
    texts = [path.read_bytes() for path in files]
    began = time.process_time()
    for text in texts:
        parser("python").parse(text)
    return time.process_time() - began


def of_size(megabytes: float, folder: Path) -> None:
    """A project with one file of about that size, made of the standard library's."""
    stdlib = cycle(sorted(Path(sysconfig.get_path("stdlib")).glob("*.py")))
    parts: list[str] = []
    size = 0
    while size < megabytes * 1e6:
        parts.append(next(stdlib).read_bytes().decode(errors="ignore"))
        size += len(parts[-1])
    folder.mkdir()
    (folder / "large.py").write_text("\n".join(parts))


def main() -> None:
    """Print a line for each command and each of its ratios as soon as they are known."""
    options = argparse.ArgumentParser()
    options.add_argument("--commit", default=FIRST)
    options.add_argument("--rounds", type=int, default=3)
    options.add_argument("engines", nargs="*", default=["jedi", "zuban"])
    given = options.parse_args()
    with checkout(given.commit) as earlier, tempfile.TemporaryDirectory() as temporary:
        sides = Sides(earlier, given.rounds)
        stage_one(sides, Path(temporary, "library"))
        large_files(sides, Path(temporary))
        reports(sides, Path(temporary))
        for engine in given.engines:
            outside(sides, engine)


def stage_one(sides: Sides, folder: Path) -> None:
    """Over this Python's standard library, without its tests."""
    stdlib = Path(sysconfig.get_path("stdlib"))
    leave_out = {"test", "tests", "idlelib", "lib2to3", "site-packages"}
    files = [path for path in stdlib.rglob("*.py") if not leave_out & {*path.relative_to(stdlib).parts}]
    for path in files:
        copy = folder / path.relative_to(stdlib)
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.write_bytes(path.read_bytes())
    # How fast the machine is changes from minute to minute: each round has a parsing of its own.
    rounds = [(*each, parsing(files)) for each in sides.turns("actions", *PYTHON, "--project", f"path:{folder}")]
    before, now, alone = zip(*rounds, strict=True)
    print(f"stage 1, {len(files)} files: {ratio([each.all_ for each in before], [each.all_ for each in now])}")
    for name, taken in (("before", before), ("now", now)):
        seconds = statistics.median(each.all_ for each in taken)
        times = statistics.median(each.all_ / bare for each, bare in zip(taken, alone, strict=True))
        print(f"  {name}: {seconds:.1f} s CPU, {times:.1f} x parsing alone", flush=True)


def large_files(sides: Sides, folder: Path) -> None:
    """What it takes to play a file at whose tokens nothing is asked."""

    def seconds(source: Path, megabytes: float) -> float:
        project, run = folder / f"{megabytes}", folder / f"{source.name} {megabytes}"
        if not project.exists():
            of_size(megabytes, project)
        if not run.exists():
            command = ("actions", *PYTHON, "--project", f"path:{project}", "--set", "actions.maxFileSize=100000000")
            used(source, *command, "--output", run)
        files = (next((run / "actions").iterdir()), project / "large.py")
        program = [sys.executable, "-c", PLAY, *map(str, files)]
        done = subprocess.run(program, check=True, cwd=source, env=environment(source), stdout=subprocess.PIPE)
        return float(done.stdout)

    for megabytes in MEGABYTES:
        rounds = [(seconds(sides.earlier, megabytes), seconds(HERE, megabytes)) for _ in range(sides.rounds)]
        before, now = zip(*rounds, strict=True)
        taken = f"{statistics.median(before):.2f} s CPU before, {statistics.median(now):.2f} s now"
        print(f"edits of a file of {megabytes} MB: {taken}; {ratio(before, now)}", flush=True)
    print(f"edits of a file of {LARGEST} MB: {seconds(HERE, LARGEST):.2f} s CPU now", flush=True)


def reports(sides: Sides, folder: Path) -> None:
    """Of generated sessions, which each checkout stores in its own way."""
    taken: list[tuple[Used, float]] = []
    for source in (sides.earlier, HERE):
        workspace = folder / f"{source.name} sessions"
        program = [sys.executable, "-c", GENERATE, str(workspace), str(SESSIONS)]
        subprocess.run(program, check=True, cwd=source, env=environment(source, source / "benchmarks"))
        spent = used(source, "report", workspace)
        html = (workspace / "reports" / "html").rglob("*")
        taken.append((spent, sum(path.stat().st_size for path in html if path.is_file()) / 1e6))
    (before, before_size), (now, now_size) = taken
    print(f"report of {SESSIONS:,} sessions: {ratio([before.all_], [now.all_])}, {now.all_:.1f} s CPU now")
    print(f"  memory of all processes: {ratio([before.memory], [now.memory])}, {now.memory:.0f} MB now")
    print(f"  HTML: {ratio([before_size], [now_size])}, {now_size:.1f} MB now", flush=True)


def outside(sides: Sides, engine: str) -> None:
    """Over sessions of flask."""
    sessions = SESSIONS_OF.get(engine, 1_000)
    asked = ("--project", "pypi:flask==3.0.3", "--set", f"interpret.sessionsLimit={sessions}")
    before, now = zip(*sides.turns("evaluate", "--engine", engine, *PYTHON, *asked), strict=True)
    print(f"{sessions:,} sessions of {engine}: {ratio([each.all_ for each in before], [each.all_ for each in now])}")
    print(f"  not the engine's: {ratio([each.own for each in before], [each.own for each in now])}")
    for name, taken in (("before", before), ("now", now)):
        share = statistics.median(each.own / each.all_ for each in taken)
        seconds = statistics.median(each.own for each in taken)
        print(f"  {name}: {share:.1%} of the CPU is not the engine's, {seconds:.1f} s", flush=True)


if __name__ == "__main__":
    main()
