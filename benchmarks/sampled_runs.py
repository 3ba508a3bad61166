"""How often the interval of a sample holds what asking all sessions shows: real runs, sampled again and again.

python benchmarks/sampled_runs.py BASE NEW [BASE NEW …]

Each BASE and NEW are workspaces of the same project in which every session was asked. Of their common sessions some are
drawn without replacement, as `interpret.sessionsLimit` draws them, and compared as `ci-eval compare` does; and so are
the single figures of each NEW.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np

from ci_eval.core.catalogs import metrics
from ci_eval.core.model import SessionScore
from ci_eval.core.scoring import evaluated
from ci_eval.core.statistics.paired import joint, singly
from ci_eval.core.statistics.sampled import Limits, effective_sessions, figure, here, powers
from ci_eval.core.statistics.student import Floats
from ci_eval.core.workspace import Workspace

WANTED = ("RecallAt1", "RecallAt5", "MeanReciprocalRank", "Recall", "MeanRank")
LIMITS: tuple[Limits, ...] = (*[(0.0, 1.0)] * 4, (1.0, None))
SPANS = (1.0, 1.0, 1.0, 1.0, None)
SHARES = (0.1, 0.3, 0.6, 0.9)
TIMES = 1_000


def observed(base: Path, new: Path) -> Floats:
    """Of each common session and each wanted metric: numerator and denominator of base, then of new."""
    known = {each.info.name: each for each in metrics.load()}
    sides = [
        {each.id: each for _, sessions in Workspace.open(folder).sessions(SessionScore) for each in sessions}
        for folder in (base, new)
    ]
    rows = []
    for identity, ours in sides[0].items():
        theirs = sides[1].get(identity)
        if theirs is None or not evaluated(ours) or not evaluated(theirs):
            continue
        row = []
        for name in WANTED:
            seen = [known[name].observe(each) for each in (ours, theirs)]
            both = all(seen) or not known[name].found_by_both
            row.append([*(seen[0][0] if both else (0, 0)), *(seen[1][0] if both else (0, 0))])
        rows.append(row)
    return np.array(rows, dtype=np.float64)


def coverage(whole: Floats, asked: float, random: np.random.Generator) -> tuple[Floats, float]:
    """How often the intervals hold the whole's difference: each by itself, and those of the first four together."""
    total = whole.sum(axis=0)
    truth = total[:, 2] / total[:, 3] - total[:, 0] / total[:, 1]
    size = round(asked * len(whole))
    held, together = np.zeros(len(WANTED)), 0
    for turn in range(TIMES):
        chosen = whole[random.permutation(len(whole))[:size]]
        flat = chosen.reshape(size, -1)
        spread = here(
            chosen.sum(axis=0),
            flat.T @ flat,
            (chosen[:, :, 1] > 0).sum(axis=0, dtype=np.float64),
            size / len(whole),
            SPANS,
        )
        held += [each.low <= true <= each.high for each, true in zip(singly(spread), truth, strict=True)]
        if turn < TIMES // 10:
            family = joint(spread, range(4))
            together += all(each.low <= true <= each.high for each, true in zip(family, truth[:4], strict=True))
    return held / TIMES, together / (TIMES // 10)


def coverage_alone(whole: Floats, asked: float, random: np.random.Generator) -> Floats:
    """How often the interval of each of new's figures holds that of the whole."""
    of_new = whole[:, :, 2:]
    total = of_new.sum(axis=0)
    truth, size = total[:, 0] / total[:, 1], round(asked * len(whole))
    held = np.zeros(len(WANTED))
    for _ in range(TIMES):
        chosen = of_new[random.permutation(len(whole))[:size]]
        for place, (limits, true) in enumerate(zip(LIMITS, truth, strict=True)):
            seen = chosen[:, place]
            observed = float((seen[:, 1] > 0).sum())
            worth = effective_sessions(*powers(*seen.T), seen.sum(axis=0))
            low, high = figure(seen.sum(axis=0), seen.T @ seen, observed, size / len(whole), limits, effective=worth)
            held[place] += np.nan if low is None or high is None else low <= true <= high
    return held / TIMES


def single(folders: list[Path]) -> None:
    """Print one row per evaluation and share."""
    print(f"\n| single figures of | sessions | asked | {' | '.join(WANTED)} |\n|---|--:|--:|" + "--:|" * len(WANTED))
    for base, new in zip(folders[::2], folders[1::2], strict=True):
        whole = observed(base, new)
        for asked in SHARES:
            cells = " | ".join(f"{each:.3f}" for each in coverage_alone(whole, asked, np.random.default_rng(2)))
            print(f"| {new.name} | {len(whole):,} | {asked:.0%} | {cells} |", flush=True)


def main() -> None:
    """Print one row per pair and share, then the same of single figures."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("folders", nargs="+", type=Path)
    folders = options.parse_args().folders
    print(f"| base → new | sessions | changed | asked | {' | '.join(WANTED)} | first four |")
    print("|---|--:|--:|--:|" + "--:|" * (len(WANTED) + 1), flush=True)
    for base, new in zip(folders[::2], folders[1::2], strict=True):
        whole = observed(base, new)
        changed = np.mean(whole[:, 2, 0] != whole[:, 2, 2])
        for asked in SHARES:
            held, together = coverage(whole, asked, np.random.default_rng(1))
            cells = " | ".join(f"{each:.3f}" for each in (*held, together))
            print(f"| {base.name} → {new.name} | {len(whole):,} | {changed:.1%} | {asked:.0%} | {cells} |", flush=True)
    single(folders)


if __name__ == "__main__":
    main()
