"""How well `evaluate --precision` does: runs of all sessions, sampled again and again.

python benchmarks/precision.py [--precision 1pp] [--times 200] [--metric Recall] WORKSPACE…

Each WORKSPACE holds a run in which every session was asked. As often as said, with another seed each time, sessions are
drawn from it as `evaluate --precision` draws them, their answers being those of the run. Printed are, of the metric:
how far off the figures are in the mean (bias), how often their intervals hold the figure of all sessions (coverage),
and the mean number of sessions that were drawn, beside the number that a simple random sample takes for as narrow an
interval; last, which share of that strata by kind would take in the best proportions, if all variances were known
beforehand.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from math import sqrt
from pathlib import Path

import numpy as np

from ci_eval import metrics
from ci_eval.jobs.sampling.precise import parse
from ci_eval.model import SessionScore
from ci_eval.observing import observations_of
from ci_eval.stages.interpret import listed
from ci_eval.statistics.phases import Frame, Places, Sampler
from ci_eval.statistics.student import Floats
from ci_eval.statistics.weighted import ERRORS
from ci_eval.workspace import Workspace


@dataclass(frozen=True)
class Drawn:
    """One simulated run."""

    value: float
    low: float
    high: float
    asked: int
    phases: int


def answers(workspace: Workspace, frame: Frame, name: str) -> Floats:
    """Of each session: the metric's numerator and denominator."""
    metric = next(each for each in metrics.load() if each.info.name == name)
    seen = {
        session.id: (*observations_of(metric, session), (0.0, 0.0))[0]
        for _, sessions in workspace.sessions(SessionScore)
        for session in sessions
    }
    if lacking := sum(identity not in seen for identity in frame.ids):
        raise SystemExit(f"{workspace.folder} lacks {lacking:,} of its sessions: evaluate all of them")
    return np.array([seen[identity] for identity in frame.ids])


def simulated(frame: Frame, known: Floats, precision: float, seed: int) -> Drawn:
    """A run whose answers are known."""
    sampler = Sampler(frame, "", precision, seed)
    while not sampler.is_precise:
        phase = sampler.next_phase()
        sampler.take(phase, *known[np.concatenate(phase.drawn)].T)
    found = sampler.figure()
    assert found
    return Drawn(*found, len(sampler.asked), len(sampler.phases))


def simple(known: Floats, precision: float) -> float:
    """Sessions that a simple random sample without replacement takes, if it knew the variance beforehand."""
    infinite = (ERRORS / precision) ** 2 * float(known[:, 0].var())
    return infinite / (1 + infinite / len(known))


def by_kind(values: Floats, kinds: Places) -> float:
    """How many sessions strata by kind take, in proportion to those of a simple sample (Neyman 1934)."""
    within = sum(np.mean(kinds == each) * values[kinds == each].std() for each in np.unique(kinds))
    return float(within**2 / values.var())


def main() -> None:
    """See the module."""
    parser = argparse.ArgumentParser()
    parser.add_argument("workspaces", nargs="+", type=Path, metavar="WORKSPACE")
    parser.add_argument("--precision", default="1pp")
    parser.add_argument("--times", type=int, default=200)
    parser.add_argument("--metric", default="Recall")
    given = parser.parse_args()
    precision = parse(given.precision)
    print(f"| engine | sessions | {given.metric} | bias | coverage | drawn | phases | simple | ratio | by kind |")
    print("|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|")
    for folder in given.workspaces:
        workspace = Workspace.open(folder)
        frame = listed(workspace).frame
        known = answers(workspace, frame, given.metric)
        whole = known[:, 0].sum() / known[:, 1].sum()
        runs = [simulated(frame, known, precision, seed) for seed in range(given.times)]
        errors = np.array([run.value - whole for run in runs])
        covered = np.mean([run.low <= whole <= run.high for run in runs])
        drawn, usual = np.mean([run.asked for run in runs]), simple(known, precision)
        print(
            f"| {workspace.manifest().engine.name} | {len(known):,} | {whole:.1%} "
            f"| {errors.mean() * 100:+.2f} ± {errors.std() / sqrt(len(errors)) * 100:.2f} pp | {covered:.1%} "
            f"| {drawn:,.0f} | {np.mean([run.phases for run in runs]):.1f} | {usual:,.0f} | {drawn / usual:.2f} "
            f"| {by_kind(known[:, 0], frame.cells[0]):.2f} |",
            flush=True,
        )


if __name__ == "__main__":
    main()
