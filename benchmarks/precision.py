"""How well `evaluate --precision` does: runs of all sessions, sampled again and again.

python benchmarks/precision.py [--precision 1pp] [--times 400] [--metric Recall] WORKSPACE… [--expect EARLIER…
    [--told SHARE]]

Each WORKSPACE holds a run in which every session was asked. As often as said, with another seed each time, sessions are
drawn from it as `evaluate --precision` draws them, their answers being those of the run. Printed are, of the metric:
how far off the figures are in the mean (bias), how often their intervals hold the figure of all sessions (coverage),
and the mean number of sessions that were drawn, beside the number that a simple random sample takes for as narrow an
interval; last, which share of that strata by kind would take in the best proportions, if all variances were known
beforehand. `--expect`: for each WORKSPACE that of an earlier run, as in the option of that name; then the last column
is the share of the sessions that are known of it which went otherwise. `--told`: how large a part of them is known.
"""

from __future__ import annotations

import argparse
from collections import defaultdict
from dataclasses import dataclass
from math import sqrt
from pathlib import Path

import numpy as np

from ci_eval.core.base.chance import draw
from ci_eval.core.catalogs import metrics
from ci_eval.core.contracts import Metric
from ci_eval.core.interpret import list_sessions
from ci_eval.core.model import SessionScore
from ci_eval.core.scoring import observe_session
from ci_eval.core.statistics.expected import Places
from ci_eval.core.statistics.phases import Frame, Sampler
from ci_eval.core.statistics.student import Floats
from ci_eval.core.statistics.weighted import ERRORS
from ci_eval.core.workspace import Workspace
from ci_eval.jobs.sampling.precise import parse, went


@dataclass(frozen=True)
class Drawn:
    """One simulated run."""

    value: float
    low: float
    high: float
    asked: int
    phases: int


def answers(workspace: Workspace, frame: Frame, metric: Metric) -> Floats:
    """Of each session: the metric's numerator and denominator."""
    seen = {
        session.id: (*observe_session(metric, session), (0.0, 0.0))[0]
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
    parser.add_argument("--expect", nargs="*", type=Path, default=[], metavar="EARLIER")
    parser.add_argument("--told", type=float, default=1.0)
    parser.add_argument("--precision", default="1pp")
    parser.add_argument("--times", type=int, default=400)
    parser.add_argument("--metric", default="Recall")
    given = parser.parse_args()
    precision = parse(given.precision)
    last = "went otherwise" if given.expect else "by kind"
    print(f"| engine | sessions | {given.metric} | bias | coverage | drawn | phases | simple | ratio | {last} |")
    print("|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|")
    metric = next(each for each in metrics.load() if each.info.name == given.metric)
    for folder, earlier in zip(given.workspaces, given.expect or [None] * len(given.workspaces), strict=True):
        workspace = Workspace.open(folder)
        before = went(earlier, metric) if earlier else None
        if before is not None:
            before = {identity: value for identity, value in before.items() if draw(0, identity) < given.told}
        texts = defaultdict(str, {each.path: each.text for each in workspace.sources()})
        frame = list_sessions(workspace, before, texts.__getitem__).frame
        known = answers(workspace, frame, metric)
        whole = known[:, 0].sum() / known[:, 1].sum()
        runs = [simulated(frame, known, precision, seed) for seed in range(given.times)]
        errors = np.array([run.value - whole for run in runs])
        covered = np.mean([run.low <= whole <= run.high for run in runs])
        otherwise = None
        if before is not None:
            pairs = zip(frame.ids, known[:, 0], strict=True)
            otherwise = np.mean([before[each] != now for each, now in pairs if each in before])
        drawn, usual = np.mean([run.asked for run in runs]), simple(known, precision)
        print(
            f"| {workspace.manifest().engine.name} | {len(known):,} | {whole:.1%} "
            f"| {errors.mean() * 100:+.2f} ± {errors.std() / sqrt(len(errors)) * 100:.2f} pp | {covered:.1%} "
            f"| {drawn:,.0f} | {np.mean([run.phases for run in runs]):.1f} | {usual:,.0f} | {drawn / usual:.2f} "
            f"| {f'{by_kind(known[:, 0], frame.features[0]):.2f}' if otherwise is None else f'{otherwise:.1%}'} |",
            flush=True,
        )


if __name__ == "__main__":
    main()
