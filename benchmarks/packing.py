"""What stored sessions take: bytes, and CPU seconds to write and to read them, by zstd and by gzip as before.

python benchmarks/packing.py ENGINE...

Each engine is asked three tenths of flask 3.0.3's sessions. Both pack the same lines one by one and read them one by
one, in turns.
"""

from __future__ import annotations

import argparse
import gzip
import io
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from ci_eval.core.base import stored
from ci_eval.core.workspace import Workspace

ROUNDS = 5


def by_gzip(lines: Sequence[bytes]) -> bytes:
    """As before."""
    packed = io.BytesIO()
    with gzip.GzipFile(fileobj=packed, mode="wb", compresslevel=1, mtime=0) as file:
        for line in lines:
            file.write(line)
    return packed.getvalue()


HOW: dict[str, Callable[[Sequence[bytes]], bytes]] = {stored.FORMER_SUFFIX: by_gzip, stored.SUFFIX: stored.pack}


def measured(lines: Sequence[bytes], suffix: str, folder: Path) -> tuple[int, float, float]:
    """Bytes, CPU seconds to write, CPU seconds to read."""
    started = time.process_time()
    packed = HOW[suffix](lines)
    written = time.process_time() - started
    path = folder / f"x{suffix}"
    path.write_bytes(packed)
    started = time.process_time()
    assert sum(1 for _ in stored.lines(path)) == len(lines)
    return len(packed), written, time.process_time() - started


def row(workspace: Path) -> str:
    """A line of the table: of each figure gzip / zstd."""
    files = [list(stored.lines(path)) for path in sorted((workspace / "sessions").iterdir())]
    sums: dict[str, list[tuple[float, ...]]] = {suffix: [] for suffix in HOW}
    with tempfile.TemporaryDirectory() as folder:
        for _ in range(ROUNDS):
            for suffix in HOW:
                each = [measured(lines, suffix, Path(folder)) for lines in files]
                sums[suffix].append(tuple(map(sum, zip(*each, strict=True))))
    before, now = sums[stored.FORMER_SUFFIX], sums[stored.SUFFIX]
    ratios = [[old / new for old, new in zip(*pair, strict=True)] for pair in zip(before, now, strict=True)]
    sessions = sum(len(lines) - 1 for lines in files)
    size = statistics.median(size for size, *_ in now) / sessions * 10_000 / 1e6
    cells = [f"{statistics.median(column):.1f}" for column in zip(*ratios, strict=True)]
    engine = Workspace(workspace).manifest().engine.name
    return "| " + " | ".join([engine, f"{sessions:,}", f"{size:.1f}", *cells]) + " |"


def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("engines", nargs="+", metavar="ENGINE")
    print("| engine | sessions | MB per 10,000 | gzip / zstd: bytes | CPU to write | CPU to read |")
    print("|---|--:|--:|--:|--:|--:|")
    for engine in parser.parse_args().engines:
        with tempfile.TemporaryDirectory() as folder:
            asked = ["--project", "pypi:flask==3.0.3", "--engine", engine, "--output", f"{folder}/out"]
            evaluate = [
                sys.executable,
                "-m",
                "ci_eval",
                "evaluate",
                *asked,
                "--set",
                "interpret.sessionProbability=0.3",
            ]
            subprocess.run(evaluate, check=True, stdout=subprocess.DEVNULL)
            print(row(Path(folder, "out")))


if __name__ == "__main__":
    main()
