"""How well `compare-engines --detect` does: pairs of runs of all sessions, sampled again and again.

python benchmarks/detection.py [--detect 2pp] [--power 0.8] [--times 200] BASE NEW [BASE NEW …]

Each BASE and NEW are workspaces of the same project in which every session was asked. Sides of single sessions are
swapped by chance, so that the true difference of the leading metric is none (level), or as large as the one to be found
(power). As often as said, sessions are then drawn and judged as `compare-engines --detect` does, anew each time.

Printed are: the share of sessions that differ; the share of verdicts *better* or *worse* without a true difference
(level) and of the right one with it (power), the share of intervals that hold the true difference in both, and the mean
number of sessions asked; beside it, the number that drawing from strata by kind in the best proportions would take
instead, if all variances were known beforehand.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from precision import by_kind

from ci_eval.core.compare.detecting import make_pilot
from ci_eval.core.compare.sums import Sums
from ci_eval.core.config import Config
from ci_eval.core.contracts import Metric
from ci_eval.core.model import SessionScore
from ci_eval.core.scoring import evaluated, observe_session
from ci_eval.core.statistics.detection import next_size
from ci_eval.core.statistics.paired import FLOORS, joint
from ci_eval.core.statistics.sampled import here
from ci_eval.core.statistics.student import Floats
from ci_eval.core.workspace import Workspace
from ci_eval.jobs.sampling.detecting import list_joint_metrics
from ci_eval.jobs.sampling.precise import parse


@dataclass(frozen=True)
class Run:
    """One simulated run."""

    found: int
    """1: called better, -1: worse, 0: neither."""
    holds: bool
    asked: int


def row(metrics: list[Metric], base: SessionScore, new: SessionScore) -> list[list[float]]:
    """Of each metric: numerator and denominator of base, then of new."""
    found = []
    for metric in metrics:
        sides = [list(observe_session(metric, each)) for each in (base, new)]
        both = all(sides) or not metric.found_by_both
        found.append([*(np.sum(sides[0] or [(0, 0)], axis=0) * both), *(np.sum(sides[1] or [(0, 0)], axis=0) * both)])
    return found


def recorded(base: Path, new: Path, metrics: list[Metric]) -> tuple[Floats, list[str]]:
    """Of all sessions, their rows and their kinds."""
    ours, theirs = (
        {each.id: each for _, of in Workspace.open(folder).sessions(SessionScore) for each in of if evaluated(each)}
        for folder in (base, new)
    )
    if ours.keys() != theirs.keys():
        raise SystemExit(f"{base} and {new} hold different sessions: evaluate all of them on both sides")
    rows = [row(metrics, each, theirs[identity]) for identity, each in ours.items()]
    return np.array(rows, dtype=np.float64), [each.properties.kind.value for each in ours.values()]


def planted(rows: Floats, difference: float, random: np.random.Generator) -> Floats:
    """The same, with sides swapped in sessions drawn by chance so that the first metric differs by that."""
    gains = rows[:, 0, 2] - rows[:, 0, 0]
    other = random.permutation(np.flatnonzero(gains))
    more = round(difference * len(rows))
    if more > len(other):
        raise SystemExit("too few sessions differ for so large a difference: give a smaller one to --detect")
    wins = other[: (len(other) + more) // 2]
    detectable = np.sign(gains)
    detectable[other] = -1
    detectable[wins] = 1
    swapped = detectable != np.sign(gains)
    return np.where(swapped[:, None, None], rows[:, :, [2, 3, 0, 1]], rows)


def simulated(rows: Floats, metrics: list[Metric], detectable: float, power: float, random: np.random.Generator) -> Run:
    """A run whose answers are known."""
    order, size, name = random.permutation(len(rows)), 0, metrics[0].info.name
    truth = differences(rows)
    sums = Sums(figures=len(metrics))
    pilot = None
    while (more := next_size(pilot, size, len(rows), detectable, power)) > size:
        sums.add(rows[order[size:more]])
        size = more
        pilot = make_pilot(sums, metrics, name, sessions=len(rows), asked=size)
    if size == len(rows):
        return Run(int(np.sign(truth)), holds=True, asked=size)
    spans = [each.info.span for each in metrics]
    spread = here(sums.total, sums.products, sums.observed, size / len(rows), spans)
    interval, found = joint(spread, range(len(metrics)))[0], float(spread.difference[0])
    shown = (interval.low > 0 or interval.high < 0) and abs(found) >= FLOORS[metrics[0].info.unit]
    return Run(int(np.sign(found)) if shown else 0, interval.low <= truth <= interval.high, size)


def differences(rows: Floats) -> float:
    """Of the first metric, over all sessions."""
    total = rows[:, 0].sum(axis=0)
    return float(total[2] / total[3] - total[0] / total[1])


def main() -> None:
    """See the module."""
    parser = argparse.ArgumentParser()
    parser.add_argument("workspaces", nargs="+", type=Path, metavar="BASE NEW")
    parser.add_argument("--detect", default="2pp")
    parser.add_argument("--power", type=float, default=0.8)
    parser.add_argument("--times", type=int, default=200)
    given = parser.parse_args()
    if len(given.workspaces) % 2:
        raise SystemExit("give workspaces in pairs: BASE NEW [BASE NEW …]")
    detectable, metrics = parse(given.detect), list_joint_metrics(Config())
    print("| pair | sessions | differ | true difference | better or worse | right | interval holds | asked | by kind |")
    print("|---|--:|--:|--:|--:|--:|--:|--:|--:|")
    for base, new in zip(given.workspaces[::2], given.workspaces[1::2], strict=True):
        rows, kinds = recorded(base, new, metrics)
        differ = np.mean(rows[:, 0, 0] != rows[:, 0, 2])
        for difference in (0.0, detectable):
            runs = []
            for seed in range(given.times):
                random = np.random.default_rng(seed)
                world = planted(rows, difference, random)
                runs.append(simulated(world, metrics, detectable, given.power, random))
            print(
                f"| {base.name}, {new.name} | {len(rows):,} | {differ:.1%} | {difference * 100:g} pp "
                f"| {np.mean([run.found != 0 for run in runs]):.1%} | {np.mean([run.found == 1 for run in runs]):.1%} "
                f"| {np.mean([run.holds for run in runs]):.1%} | {np.mean([run.asked for run in runs]):,.0f} "
                f"| {by_kind(rows[:, 0, 2] - rows[:, 0, 0], np.unique(kinds, return_inverse=True)[1]):.2f} |",
                flush=True,
            )


if __name__ == "__main__":
    main()
