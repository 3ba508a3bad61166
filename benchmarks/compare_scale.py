"""A comparison of many sessions: its time and memory.

python benchmarks/compare_scale.py [--sessions N] [--files N] [--keep DIR]

Two workspaces are generated with sessions of realistic size (20 suggestions each), of which one in ten differs.
"""

from __future__ import annotations

import argparse
import random
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import msgspec

from ci_eval.core.base import stored
from ci_eval.core.manifest import Manifest, StageRecord
from ci_eval.core.model import (
    EngineInfo,
    Kind,
    Lookup,
    ProjectInfo,
    Properties,
    Session,
    SourceFile,
    Status,
    Suggestion,
)
from ci_eval.core.workspace import Workspace

WORDS = [f"{first}_{second}" for first in "get set make read open".split() for second in "name item text file".split()]


def generate(folder: Path, sessions: int, files: int, *, new: bool) -> None:
    """Write a workspace."""
    workspace = Workspace.create(folder)
    workspace.write_config("language: python\nproject: path:.\n")
    per_file = sessions // files
    for number in range(files):
        source = random.Random(number)
        changes = random.Random(f"{number} {new}")
        path = f"package{number % 20}/module{number}.py"
        text = "".join(f"{source.choice(WORDS)}({i})\n" for i in range(per_file))
        lines = [msgspec.json.encode(SourceFile(path=path, checksum=str(number), text=text))]
        offset = 0
        for place in range(per_file):
            line = text[offset : text.index("\n", offset) + 1]
            rank = source.choice((1, 1, 2, 3, 7, 15, None))
            if new and changes.random() < 0.1:
                rank = changes.choice((1, 2, 5, None))
            suggestions = [Suggestion(text=f"{WORDS[i % 20]}{i}") for i in range(20)]
            lookup = Lookup(
                prefix="", suggestions=tuple(suggestions), total=20, rank=rank, latency=source.lognormvariate(3, 0.7)
            )
            session = Session(
                id=f"{number:08x}{place:08x}",
                file=path,
                offset=offset,
                expected_text=line.partition("(")[0],
                properties=Properties(kind=source.choice(list(Kind)[:7]), is_argument=source.random() < 0.3),
                status=Status.OK if rank else Status.NO_MATCH,
                lookups=(lookup,),
            )
            lines.append(msgspec.json.encode(session))
            offset += len(line)
        workspace.write_sessions(path, stored.pack(line + b"\n" for line in lines))
    stage = StageRecord(started="2026-01-01T00:00:00+00:00")
    workspace.write_manifest(
        Manifest(
            ci_eval="0",
            title="new" if new else "base",
            language="python",
            completion_type="BASIC",
            client="editor",
            strategy="generated",
            seed=1,
            engine=EngineInfo(name="generated", version="1"),
            project=ProjectInfo(spec="path:.", name="generated", revision="1", checksum="0"),
            grammar="none",
            python="none",
            os="none",
            cpu="none",
            jobs=1,
            start="2026-01-01T00:00:00+00:00",
            planned=per_file * files,
            finished=per_file * files,
            stages={"interpret": stage},
        )
    )
    workspace.seal()


def main() -> None:
    """Generate, compare, print."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--sessions", type=int, default=1_000_000)
    options.add_argument("--files", type=int, default=1000)
    options.add_argument("--keep", type=Path)
    asked = options.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        folder = asked.keep or Path(scratch)
        for name in ("base", "new"):
            generate(folder / name, asked.sessions, asked.files, new=name == "new")
        argv = [sys.executable, "-m", "ci_eval", "compare", str(folder / "base"), str(folder / "new")]
        started = time.perf_counter()
        subprocess.run([*argv, "--output", str(folder / "out")], check=True)
        taken = time.perf_counter() - started
        memory = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1e6
        pages = [path.stat().st_size for path in (folder / "out" / "html").rglob("*") if path.is_file()]
        print(f"{asked.sessions:,} pairs in {asked.files:,} files: {taken:.0f} s, {memory:.2f} GB at most")
        print(f"report: {len(pages):,} files, {sum(pages) / 1e6:.0f} MB, the largest {max(pages) / 1e6:.1f} MB")


if __name__ == "__main__":
    main()
