"""Stage 2 against a plain script that calls jedi at the same places: agreement, overhead, speed. Paired, in one run.

python benchmarks/interpret.py [--project SPEC] [--probability P] [--rounds N]
"""

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from ci_eval.ci import Screen
from ci_eval.core.config import load, patch
from ci_eval.core.interpret import Progress, interpret
from ci_eval.core.model import SessionScore
from ci_eval.core.workspace import Workspace
from ci_eval.jobs import pipeline, runs
from ci_eval.jobs.preparation import prepare

PLAIN = Path(__file__).parent / "plain_jedi.py"


class Bench:
    """The same sessions, asked in several ways."""

    def __init__(self, project: str, probability: float, folder: Path) -> None:
        # The plain script sees the project alone, not what it needs.
        only = [f"interpret.sessionProbability={probability}", "project.dependencies=false"]
        config = load(None, overrides=only).config
        self.prepared = prepare(patch(config, project=project), Screen())
        self.folder = folder
        self.probability = probability
        self.source = runs.begin(self.prepared, folder / "actions", 1)
        pipeline.make_actions(self.source, self.prepared, 2, Screen())

    def ours(self, name: str, jobs: int) -> tuple[float, Progress, Workspace]:
        """Wall seconds of stage 2, its sums, its workspace."""
        workspace = runs.copy_actions(self.source, self.prepared, self.folder / name, jobs)
        started = time.perf_counter()
        sums = interpret(
            workspace,
            self.prepared.setup,
            probability=self.probability,
            limit=None,
            jobs=jobs,
            advance=lambda *_: None,
        )
        return time.perf_counter() - started, sums, workspace

    def plain(self, workspace: Workspace) -> tuple[float, dict[str, tuple[int | None, float]]]:
        """Wall seconds of the script, from start to end of its process; by session: rank and ms."""
        argv = [sys.executable, str(PLAIN), str(workspace.folder), str(self.prepared.project.root)]
        started = time.perf_counter()
        answer: dict[str, Any] = json.loads(subprocess.run(argv, capture_output=True, check=True).stdout)
        return time.perf_counter() - started, {each[0]: (each[1], each[2]) for each in answer["sessions"]}


def scores(workspace: Workspace) -> dict[str, tuple[int | None, float]]:
    """By session: rank and ms."""
    return {
        each.id: (each.lookups[-1].rank, each.lookups[-1].latency)
        for _, sessions in workspace.sessions(SessionScore)
        for each in sessions
    }


def agreement(ours: dict[str, tuple[int | None, float]], plain: dict[str, tuple[int | None, float]]) -> None:
    """Print both sides of what the reports say."""
    different = [each for each in plain if ours[each][0] != plain[each][0]]
    print(f"sessions {len(plain)}, with another rank: {len(different)} {different[:5]}")
    for name, side in (("ci-eval", ours), ("plain", plain)):
        ranks = [rank for rank, _ in side.values()]
        times = sorted(ms for _, ms in side.values())
        print(
            f"{name:8} RecallAt1 {sum(rank == 1 for rank in ranks) / len(ranks):.4f}  "
            f"Recall {sum(rank is not None for rank in ranks) / len(ranks):.4f}  "
            f"mean {statistics.fmean(times):.1f} ms  median {times[len(times) // 2]:.1f} ms  "
            f"p95 {times[int(len(times) * 0.95)]:.1f} ms"
        )


def main() -> None:
    """Run the rounds and print the ratios."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--project", default="pypi:flask==3.0.3")
    options.add_argument("--probability", type=float, default=0.2)
    options.add_argument("--rounds", type=int, default=3)
    asked = options.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(asked.project, asked.probability, Path(folder))
        rows = []
        for turn in range(asked.rounds):
            one, sums, workspace = bench.ours(f"one-{turn}", 1)
            plain_time, plain = bench.plain(workspace)
            two, _, _ = bench.ours(f"two-{turn}", 2)
            found = scores(workspace)
            if turn == 0:
                agreement(found, plain)
            in_engine = sum(ms for _, ms in found.values()) / 1000
            rows.append((1 - sums.engine_time / sums.time, 1 - in_engine / sums.time, plain_time / one, one / two))
            print(f"round {turn}: one worker {one:.1f} s, plain {plain_time:.1f} s, two workers {two:.1f} s")
        labels = (
            "share of worker time outside the engine's process",
            "the same, with what the way to the engine costs",
            "completions per second, ci-eval / plain script",
            "two workers / one worker",
        )
        for label, values in zip(labels, zip(*rows, strict=True), strict=True):
            print(f"{label}: {statistics.median(values):.3f}  ({', '.join(f'{value:.3f}' for value in values)})")


if __name__ == "__main__":
    main()
