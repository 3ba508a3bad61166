"""Every verified engine on a real project, after 0, 1 and 3 letters: the table of docs/results/engines.md.

python benchmarks/engines.py [--sessions N] [--letters N…] [ENGINE…]

The projects are those of the nightly configurations, with what they need installed; the engines of a language answer
the same sessions. One worker. Confined, dependencies and unresolved imports are what the manifest says of the run.
Memory is the most that the engine's processes held together, looked at every half second.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections import Counter
from contextlib import suppress
from pathlib import Path
from typing import Any

from ci_eval.core import machine
from ci_eval.core.catalogs import engines

CONFIGS = Path(__file__).parent.parent / "configs"
METRICS = ("RecallAt1", "RecallAt5", "Recall", "MeanReciprocalRank")
CONTROLS = frozenset({"oracle", "empty", "words"})


def evaluate(engine: str, language: str, letters: int, sessions: int, folder: Path) -> tuple[dict[str, Any], int]:
    """The engine's evaluation, and bytes of memory."""
    argv = [sys.executable, "-m", "ci_eval", "evaluate", str(CONFIGS / f"{language}.yaml"), "--engine", engine]
    options = [f"interpret.sessionsLimit={sessions}", "interpret.sessionProbability=1", "project.dependencies=true"]
    options += ["interpret.allowedFailures=1", "interpret.allowedEmpty=1"]
    prefix = f"{{name: SimplePrefix, n: {letters}}}" if letters else "{name: NoPrefix}"
    options.append(f"actions.strategy.prefix={prefix}")
    argv += [part for option in options for part in ("--set", option)]
    process = subprocess.Popen(
        [*argv, "--jobs", "1", "--output", str(folder)], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
    )
    most = 0
    while process.poll() is None:
        most = max(most, _memory_of_engines(process.pid))
        time.sleep(0.5)
    if process.returncode:
        sys.exit(process.stderr.read() if process.stderr else "")
    return json.loads((folder / "reports" / "metrics.json").read_text())["evaluations"][0], most


def _memory_of_engines(pid: int) -> int:
    """Bytes of the largest engine among the descendants of a process: engines lead process groups, workers do not."""
    fields = {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        # What ended while we looked is left out.
        with suppress(OSError):
            fields[int(path.parent.name)] = path.read_text(errors="replace").rpartition(")")[2].split()
    pages: Counter[int] = Counter()
    for parent, group, size in ((int(each[1]), int(each[2]), int(each[21])) for each in fields.values()):
        above = parent
        while above in fields and above != pid:
            above = int(fields[above][1])
        if above == pid:
            pages[group] += size
    del pages[os.getpgid(pid)]
    return max(pages.values(), default=0) * os.sysconf("SC_PAGE_SIZE")


def row(
    engine: str, language: str, letters: int, evaluation: dict[str, Any], memory: int, manifest: dict[str, Any]
) -> str:
    """A line of the table."""
    figures = evaluation["filters"]["ALL"]
    metrics = figures["metrics"]
    cells = [engine, evaluation["engine"]["version"], f"{language}: {evaluation['project']['name']}", str(letters)]
    statuses = figures.get("statuses", {})
    failed = sum(statuses.get(status, 0) for status in ("timeout", "engine-crash", "error"))
    cells += [f"{figures['sessions']:,}", f"{failed:,}"]
    for name in METRICS:
        share = name != "MeanReciprocalRank"
        scale, digits = (100, 1) if share else (1, 3)
        value, low, high = (metrics[name][key] for key in ("value", "low", "high"))
        interval = f" ({low * scale:.{digits}f} to {high * scale:.{digits}f})" if low is not None else ""
        cells.append(f"{value * scale:.{digits}f}{interval}")
    cells += [f"{metrics[name]['value']:.0f}" for name in ("LatencyPercentile50", "LatencyPercentile95")]
    unresolved = manifest.get("unresolvedImports")
    cells += [f"{memory / 1e6:,.0f}", manifest["confined"] or "no process", str(len(manifest["dependencies"]))]
    return "| " + " | ".join([*cells, "" if unresolved is None else f"{unresolved * 100:.1f}"]) + " |"


def main() -> None:
    """Print the table, a line as soon as it is known."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("engines", nargs="*")
    parser.add_argument("--sessions", type=int, default=500)
    parser.add_argument("--letters", type=int, nargs="+", default=[0, 1, 3])
    wanted = parser.parse_args()
    print(f"{machine.cpu()}, {machine.python()}\n")
    names = (
        "engine|version|project|letters|sessions|failed|RecallAt1 %|RecallAt5 %|Recall %|MeanReciprocalRank|median ms"
    )
    names += "|95th percentile ms|memory MB|confined|dependencies|unresolved imports %"
    print(f"| {names.replace('|', ' | ')} |\n|---|---|---|" + "--:|" * 10 + "---|--:|--:|")
    for name in wanted.engines or [name for name in engines.names() if name not in CONTROLS]:
        engine = engines.CATALOG.load(name)
        for language in sorted(engine.languages or ()) if engine.verified else ():
            for letters in wanted.letters:
                with tempfile.TemporaryDirectory() as parent:
                    folder = Path(parent, "out")
                    evaluation, memory = evaluate(name, language, letters, wanted.sessions, folder)
                    manifest = json.loads((folder / "manifest.json").read_text())
                print(row(name, language, letters, evaluation, memory, manifest), flush=True)


if __name__ == "__main__":
    main()
