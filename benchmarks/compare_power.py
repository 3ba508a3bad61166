"""How often a comparison is wrong, and how often it sees what is there: on real sessions.

python benchmarks/compare_power.py [--project SPEC] [--sessions N] [--splits N]

jedi completes a project twice, with its own order and with the alphabet's. False alarms: which of the two is called
base is drawn anew, file by file, so that no side is better. Power: of the first run's hits so many are turned into
misses that RecallAt1 is two points lower, in sessions drawn at random, while others change both ways by chance. Beside
it stand the same sessions compared as if they were not paired, and paired as if files did not matter.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import numpy as np

from ci_eval.cli import cli
from ci_eval.model import SessionScore, Verdict
from ci_eval.support.observing import evaluated, rank_of
from ci_eval.support.paired import Floats, Resampling, mcnemar, verdict
from ci_eval.workspace import Workspace

LOSS = 0.02
CHANCE = 0.06
"""Share of sessions that change by chance between two versions, as seen between similar rankers."""

Hits = dict[str, dict[str, bool]]
"""File → session → whether the expected text stood first."""


def hits_of(folder: Path) -> Hits:
    """Of an evaluation."""
    return {
        source.path: {each.id: rank_of(each) == 1 for each in sessions if evaluated(each)}
        for source, sessions in Workspace.open(folder).sessions(SessionScore)
    }


def sums(base: list[Floats], new: list[Floats]) -> Floats:
    """As the statistics take them, one row a file."""
    return np.array([[[b.sum(), len(b), n.sum(), len(n)]] for b, n in zip(base, new, strict=True)])


def paired(base: list[Floats], new: list[Floats], seed: int) -> Verdict:
    """What ci-eval says."""
    (found,) = Resampling(len(base), seed).ratios(sums(base, new))
    return verdict(found, found.p if found else None, better="higher", floor=0.001, margin=0.005)


def unpaired(base: list[Floats], new: list[Floats], seed: int) -> Verdict:
    """Each side resampled by itself, files at a time, as two runs that know nothing of each other."""
    random = np.random.default_rng(seed)
    means = []
    for side in (base, new):
        counts = np.array([[each.sum(), len(each)] for each in side])
        times = random.multinomial(len(side), np.full(len(side), 1 / len(side)), size=2000)
        drawn = times @ counts
        means.append(drawn[:, 0] / drawn[:, 1])
    low, high = np.quantile(means[1] - means[0], [0.025, 0.975])
    return Verdict.BETTER if low > 0 else Verdict.WORSE if high < 0 else Verdict.NOT_SHOWN


def by_session(base: list[Floats], new: list[Floats], _seed: int) -> Verdict:
    """McNemar's test, for which all sessions are independent."""
    changes = np.concatenate(new) - np.concatenate(base)
    wins, losses = int((changes > 0).sum()), int((changes < 0).sum())
    if mcnemar(wins, losses) >= 0.05:
        return Verdict.NOT_SHOWN
    return Verdict.BETTER if wins > losses else Verdict.WORSE


METHODS: dict[str, Callable[[list[Floats], list[Floats], int], Verdict]] = {
    "ci-eval: paired, by file": paired,
    "paired, by session (McNemar)": by_session,
    "unpaired, by file": unpaired,
}


def swapped(one: list[Floats], other: list[Floats], seed: int) -> tuple[list[Floats], list[Floats]]:
    """Sides drawn file by file: neither is better."""
    flips = np.random.default_rng([7, seed]).integers(2, size=len(one))
    return (
        [b if flip else a for a, b, flip in zip(one, other, flips, strict=True)],
        [a if flip else b for a, b, flip in zip(one, other, flips, strict=True)],
    )


def planted(one: list[Floats], seed: int) -> tuple[list[Floats], list[Floats]]:
    """A new side with LOSS fewer hits, beside changes both ways."""
    random = np.random.default_rng([8, seed])
    rate = np.concatenate(one).mean()
    # As many hits go by chance as come, and LOSS of all sessions more go.
    lost, won = (CHANCE / 2 + LOSS) / rate, CHANCE / 2 / (1 - rate)
    return one, [
        np.where(side > 0, random.random(len(side)) >= lost, random.random(len(side)) < won) * 1.0 for side in one
    ]


def main() -> None:
    """Print both tables."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--project", default="pypi:rich==13.9.4")
    options.add_argument("--sessions", type=int, default=8000)
    options.add_argument("--splits", type=int, default=200)
    asked = options.parse_args()
    with tempfile.TemporaryDirectory() as name:
        first, second = Path(name, "basic"), Path(name, "alphabet")
        prefix = "actions.strategy={prefix: {name: SimplePrefix, n: 3}}"
        given = ["evaluate", "--project", asked.project, "--set", f"interpret.sessionsLimit={asked.sessions}"]
        cli.main([*given, "--set", prefix, "--output", str(first)], standalone_mode=False)
        again = ["interpret", str(first), "--completion-type", "ALPHABETICAL", "--output", str(second)]
        cli.main(again, standalone_mode=False)
        basic, alphabet = hits_of(first), hits_of(second)
    one, other = [], []
    for path, sessions in basic.items():
        common = [each for each in sessions if each in alphabet.get(path, {})]
        if common:
            one.append(np.array([float(sessions[each]) for each in common]))
            other.append(np.array([float(alphabet[path][each]) for each in common]))
    total = sum(map(len, one))
    rates = [np.concatenate(side).mean() for side in (one, other)]
    print(f"\n{total:,} sessions in {len(one)} files, RecallAt1 {rates[0]:.1%} and {rates[1]:.1%}\n", file=sys.stdout)
    print("| method | false alarms | of | planted loss found | of |\n|---|--:|--:|--:|--:|")
    alarms = {Verdict.BETTER, Verdict.WORSE}
    for label, method in METHODS.items():
        false = sum(method(*swapped(one, other, seed), seed) in alarms for seed in range(asked.splits))
        found = sum(method(*planted(one, seed), seed) is Verdict.WORSE for seed in range(asked.splits))
        print(
            f"| {label} | {false / asked.splits:.1%} | {asked.splits} | {found / asked.splits:.1%} | {asked.splits} |"
        )


if __name__ == "__main__":
    main()
