"""One short night on this machine: each configuration evaluated by its own engine, a line for each.

python benchmarks/nights.py [--sessions N] [--set KEY=VALUE]… [CONFIG…]        without a configuration: all of configs/

Installs what is missing, so a first night takes longer. Exit code 1 if a night failed; its last words are printed.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from ci_eval.core import machine
from ci_eval.core.manifest import Manifest
from ci_eval.core.workspace import Workspace

CONFIGS = Path(__file__).parent.parent / "configs"
FAILED = ("timeout", "engine-crash", "error")


def night(config: Path, keys: Sequence[str], folder: Path) -> str:
    """What went wrong, in the tool's own words; "" for nothing."""
    options = [*(part for key in keys for part in ("--set", key)), "--jobs", "1", "--output", str(folder)]
    argv = (sys.executable, "-m", "ci_eval", "evaluate", str(config), *options)
    done = subprocess.run(argv, capture_output=True, text=True, check=False)
    return f"exit code {done.returncode}:\n{done.stderr.strip()}" if done.returncode else ""


def row(manifest: Manifest, seconds: float) -> str:
    """A line of the table."""
    failed = sum(manifest.statuses.get(status, 0) for status in FAILED)
    statuses = ", ".join(f"{count} {status}" for status, count in sorted(manifest.statuses.items()))
    engine, project = f"{manifest.engine.name} {manifest.engine.version}", manifest.project.spec.partition("#")[0]
    cells = (manifest.language, engine, f"`{project}`", manifest.finished, failed, statuses, f"{seconds:.0f}")
    return "| " + " | ".join(map(str, (*cells, manifest.confined or "no process"))) + " |"


def main() -> None:
    """Print the table, a line as soon as it is known."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("configs", nargs="*", type=Path)
    parser.add_argument("--sessions", type=int, default=50)
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE")
    wanted = parser.parse_args()
    print(f"{machine.cpu()}, {machine.python()}\n")
    print("| language | engine | project | sessions | failed | statuses | seconds | confined |")
    print("|---|---|---|--:|--:|---|--:|---|")
    red = 0
    for config in wanted.configs or sorted(CONFIGS.glob("*.yaml")):
        with tempfile.TemporaryDirectory() as folder:
            started = time.perf_counter()
            trouble = night(config, [f"interpret.sessionsLimit={wanted.sessions}", *wanted.set], Path(folder, "out"))
            seconds = time.perf_counter() - started
            if trouble:
                print(f"{config.stem}: {trouble}", file=sys.stderr, flush=True)
                red += 1
            else:
                print(row(Workspace.open(Path(folder, "out")).manifest(), seconds), flush=True)
    sys.exit(1 if red else 0)


if __name__ == "__main__":
    main()
