"""A simulation of wrong verdicts: engines that waver, merged projects, several engines, unbounded ranks.

python benchmarks/wavering.py [--times 400] [--only wavering|merged|several|ranks|rates|few-files]

The generators are not those that thresholds were chosen on (`verdicts.py` has these). Each comparison goes the way of a
real one: sessions are drawn, both engines answer each of them anew, two in a hundred are asked twice, and the sums go
through `Judge`. The truth is the difference of what both engines answer on average, over all sessions of the project.
Printed are: comparisons in which any declared metric is better or worse (of engines that are alike: false), those whose
interval of the first metric holds the truth, those that are called equivalent though the truth is beyond the margin,
and those that are called exact although answers vary.
"""

from __future__ import annotations

import argparse
import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations, product

import numpy as np
from numpy.typing import NDArray
from verdicts import Fresh, clustered, row

from ci_eval.core.catalogs import metrics
from ci_eval.core.compare.judging import Judge
from ci_eval.core.compare.sums import FilterSums
from ci_eval.core.contracts import Metric
from ci_eval.core.model import Difference, Verdict
from ci_eval.core.statistics.paired import MARGINS
from ci_eval.core.statistics.repeated.repeats import DETERMINISTIC, Repeats
from ci_eval.core.statistics.sampled import figure
from ci_eval.core.statistics.student import Floats
from ci_eval.core.statistics.weighted import ProjectSums, total

TWICE, FEWEST_TWICE = 0.02, 20
DECLARED = ("RecallAt1", "RecallAt5", "MeanReciprocalRank")
SHOWN = {Verdict.BETTER, Verdict.WORSE}


@dataclass
class Counts:
    """A count of comparisons by their verdicts and coverage."""

    times: int = 0
    shown: int = 0
    given: int = 0
    covered: int = 0
    equivalent: int = 0
    exact: int = 0

    def add(self, found: Sequence[Difference], truth: float, unit: str = "share") -> None:
        """Count one comparison; the first of its figures is that of which the truth is known."""
        first = found[0]
        self.times += 1
        self.shown += any(each.verdict in SHOWN for each in found)
        self.exact += any(each.state == "exact" and each.difference != 0 for each in found)
        self.equivalent += first.verdict is Verdict.EQUIVALENT and abs(truth) > MARGINS[unit]
        if first.low is not None and first.high is not None:
            self.given += 1
            self.covered += first.low - 1e-12 <= truth <= first.high + 1e-12

    def row(self, *cells: object) -> str:
        """A row of a Markdown table."""
        covered = f"{self.covered / self.given:.3f}" if self.given else "none"
        shares = [self.shown / self.times, self.given / self.times]
        more = [f"{self.equivalent / self.times:.3f}", f"{self.exact / self.times:.3f}"]
        return "| " + " | ".join([*map(str, cells), *(f"{each:.3f}" for each in shares), covered, *more]) + " |"


HEAD = "better or worse | has an interval | which holds the truth | falsely equivalent | called exact |"


def table(title: str, *columns: str) -> None:
    """Print a heading and the head of a table."""
    print(f"\n{title}\n\n| {' | '.join(columns)} | {HEAD}\n|{'--:|' * (len(columns) + 5)}", flush=True)


def known(names: Sequence[str] = DECLARED) -> list[Metric]:
    """The metrics of these names, in this order."""
    found = {metric.info.name: metric for metric in metrics.load()}
    return [found[name] for name in names]


def seen_of(base: Floats, new: Floats) -> Floats:
    """The numbers of RecallAt1, RecallAt5 and the reciprocal rank in each session, from its ranks (0: absent)."""
    found = np.ones((len(base), 3, 4))
    for column, ranks in ((0, base), (2, new)):
        there = ranks > 0
        found[:, 0, column] = ranks == 1
        found[:, 1, column] = there & (ranks <= 5)
        found[:, 2, column] = np.where(there, 1 / np.maximum(ranks, 1), 0)
    return found


@dataclass(frozen=True)
class Wavering:
    """An engine that gives another list in a share of its answers, and its successor, which loses some first ranks."""

    sessions: int
    share: float
    loss: float
    prefixes: int = 1
    """Sessions of one token, which waver together."""
    asked: float = 1.0

    def ranks(self, random: np.random.Generator) -> tuple[Floats, Floats]:
        """Return the usual ranks of both engines in all sessions of the project."""
        size = round(self.sessions / self.asked)
        base = random.choice([0, 1, 2, 4, 9, 30], p=[0.06, 0.52, 0.16, 0.12, 0.08, 0.06], size=size).astype(float)
        if self.prefixes > 1:
            base = np.repeat(base[:: self.prefixes], self.prefixes)[:size]
        lost = (base == 1) & (random.random(size) < self.loss / 0.52)
        return base, np.where(lost, random.choice([2, 3, 7], size=size), base)

    def answered(self, random: np.random.Generator, ranks: Floats) -> Floats:
        """Return the ranks of one engine that answers each session once."""
        tokens = -(-len(ranks) // self.prefixes)
        wavers = np.repeat(random.random(tokens) < self.share, self.prefixes)[: len(ranks)]
        lower = random.choice([2, 3], size=len(ranks))
        return np.where(wavers, np.where(ranks == 1, lower, np.where(ranks == 2, 1, ranks)), ranks)

    def truth(self, base: Floats, new: Floats) -> float:
        """The mean difference in RecallAt1 over all sessions, and over all answers."""

        def first(ranks: Floats) -> Floats:
            return np.where(ranks == 1, 1 - self.share, np.where(ranks == 2, self.share, 0))

        return float((first(new) - first(base)).mean())

    def compared(self, random: np.random.Generator) -> tuple[list[Difference], float]:
        """Return one comparison and the true difference."""
        base, new = self.ranks(random)
        truth = self.truth(base, new)
        chosen: NDArray[np.int64] = np.arange(len(base))
        if self.asked < 1:
            chosen = random.choice(len(base), self.sessions, replace=False)
        base, new = base[chosen], new[chosen]
        ours, theirs = self.answered(random, base), self.answered(random, new)
        twice = random.random(len(base)) < max(TWICE, FEWEST_TWICE / len(base))
        differed = sum(
            int((self.answered(random, ranks) != first)[twice].sum()) for ranks, first in ((base, ours), (new, theirs))
        )
        sums = FilterSums(figures=len(DECLARED))
        sums.rows.append(sums.add(seen_of(ours, theirs), chosen // self.prefixes))
        repeats = Repeats(asked=2 * int(twice.sum()), differed=differed, checked=bool(twice.any()), whole=False)
        judge = Judge(known(), frozenset(DECLARED), self.asked, repeats=repeats, pairs=len(base))
        found = judge.filter(sums)
        return [found[name] for name in DECLARED], truth


def wavering(times: int) -> None:
    """Print what is said of engines that waver, asked everything, or half of it, or tokens at several prefixes."""
    table("engines that waver", "sessions", "waver", "loss", "prefixes", "asked")
    plain = [
        (sessions, share, loss, 1, 1.0) for sessions in (300, 1000, 3000) for share in SHARES for loss in (0.0, 0.02)
    ]
    more = [(1000, share, loss, 3, 1.0) for share in SHARES for loss in (0.0, 0.02)]
    more += [(1000, share, loss, 1, 0.5) for share in SHARES for loss in (0.0, 0.02)]
    for sessions, share, loss, prefixes, asked in plain + more:
        world = Wavering(sessions, share, loss, prefixes, asked)
        counts = Counts()
        for random in _randoms(world, times):
            counts.add(*world.compared(random))
        print(counts.row(sessions, f"{share:.1%}", f"{loss:.0%}", prefixes, f"{asked:.0%}"), flush=True)


SHARES = (0.001, 0.01, 0.03, 0.1)


def _randoms(world: object, times: int) -> Iterator[np.random.Generator]:
    number = zlib.crc32(repr(world).encode())
    return (np.random.default_rng([7, number, turn]) for turn in range(times))


def merged(times: int) -> None:
    """Print what is said of projects that one limit of sessions asked in unequal shares."""
    table("merged projects, asked in unequal shares", "sizes", "limit", "weights")
    for sizes, limit in (((9000, 1200, 400), 300), ((20_000, 2000, 2000, 500, 500), 400), ((3000, 300), 200)):
        for weighted in (True, False):
            counts = Counts()
            for random in _randoms((sizes, limit), times):
                counts.add(*_merged(random, sizes, limit, weighted=weighted))
            print(counts.row("+".join(map(str, sizes)), limit, "N/n" if weighted else "none"), flush=True)


def _merged(
    random: np.random.Generator, sizes: Sequence[int], limit: int, *, weighted: bool
) -> tuple[list[Difference], float]:
    worlds = []
    for number, size in enumerate(sizes):
        base, new = Wavering(size, 0, 0.02 + 0.03 * number).ranks(random)
        worlds.append(seen_of(base, new)[:, :1])
    whole = np.concatenate(worlds)[:, 0].sum(axis=0)
    sums = FilterSums(figures=1)
    for number, world in enumerate(worlds):
        sample = world[random.choice(len(world), min(limit, len(world)), replace=False)]
        sums.rows.append(sums.add(sample))
        flat = sample.reshape(len(sample), -1)
        sums.strata.append(ProjectSums(sizes[number], len(sample), sample.sum(axis=0), flat.T @ flat))
    if weighted:
        sums.total = total(sums.strata)
    else:
        sums.strata = []
    asked = min(limit / size for size in sizes)
    found = Judge(known(DECLARED[:1]), frozenset(DECLARED[:1]), asked, repeats=DETERMINISTIC).filter(sums)
    return [found[DECLARED[0]]], float(whole[2] / whole[3] - whole[0] / whole[1])


def several(times: int) -> None:
    """Print how often any pair of engines that are alike is better or worse in any of three metrics."""
    table("several engines that are alike, 1,000 of 20,000 sessions", "engines")
    for count in (3, 5, 8):
        counts = Counts()
        for random in _randoms(count, times):
            counts.add(_pairs(random, count), 0.0)
        print(counts.row(count), flush=True)


def _pairs(random: np.random.Generator, count: int) -> list[Difference]:
    base, _ = Wavering(1000, 0, 0).ranks(random)
    sides = [np.where(random.random(len(base)) < 0.06, random.permutation(base), base) for _ in range(count)]
    pairs, found = list(combinations(range(count), 2)), []
    for (one, other), (number, metric) in product(pairs, enumerate(known())):
        sums = FilterSums(figures=1)
        seen = seen_of(sides[one], sides[other])[:, [number]]
        rows = sums.add(seen)[None]
        judge = Judge([metric], frozenset(), 0.05, repeats=DETERMINISTIC, pairs=len(base))
        if difference := judge.pair(sums, rows, len(pairs) * len(DECLARED)):
            found.append(difference)
    return found


def ranks(times: int) -> None:
    """Print what is said of mean ranks, whose changes have no bound."""
    table("mean rank, sampled", "changes", "sessions", "true")
    for kind, sessions in product(("heavy", "rare", "many"), (60, 200, 400, 1000, 3000)):
        base, new = _long(np.random.default_rng(5), kind)
        truth, counts = float((new - base).mean()), Counts()
        for random in _randoms((kind, sessions), times):
            chosen = random.choice(len(base), sessions, replace=False)
            sums, seen = FilterSums(figures=1), np.ones((sessions, 1, 4))
            seen[:, 0, 0], seen[:, 0, 2] = base[chosen], new[chosen]
            sums.rows.append(sums.add(seen))
            judge = Judge(known(["MeanRank"]), frozenset({"MeanRank"}), sessions / len(base), repeats=DETERMINISTIC)
            counts.add([judge.filter(sums)["MeanRank"]], truth, "rank")
        print(counts.row(kind, sessions, f"{truth:+.2f}"), flush=True)


def _long(random: np.random.Generator, kind: str, size: int = 40_000) -> tuple[Floats, Floats]:
    base = np.where(random.random(size) < 0.6, 1, np.ceil(random.pareto(1.3, size) * 2 + 1)).clip(1, 500)
    moved = random.random(size) < {"heavy": 0.06, "rare": 0.007, "many": 0.3}[kind]
    by = {
        "heavy": np.ceil(random.pareto(1.1, size) * 4),
        "rare": np.ceil(random.exponential(100, size)),
        "many": random.integers(0, 6, size).astype(float),
    }[kind]
    return base, np.where(moved, (base + by).clip(1, 600), base)


def rates(times: int) -> None:
    """Print how often the interval of a small share holds it."""
    print(
        "\nfigures of small shares, sampled from 20,000 sessions\n\n| rate | sessions | holds |\n|--:|--:|--:|",
        flush=True,
    )
    for rate, sessions in product((0.01, 0.02, 0.03), (200, 500, 1000)):
        held = 0
        for random in _randoms((rate, sessions), times):
            right = random.hypergeometric(round(rate * 20_000), 20_000 - round(rate * 20_000), sessions)
            sums, products = np.array([right, sessions], dtype=float), np.array([[right, right], [right, sessions]])
            low, high = figure(sums, products.astype(float), sessions, sessions / 20_000, (0.0, 1.0))
            held += low is not None and high is not None and low <= rate <= high
        print(f"| {rate:.0%} | {sessions} | {held / times:.3f} |", flush=True)


def few_files(times: int) -> None:
    """Print how often an interval for other code holds a loss that sits in few files."""
    print(
        "\nother code: a loss of one point in few files\n\n| files | in | has an interval | holds |\n|--:|--:|--:|--:|"
    )
    for files, few in product((60, 100, 150, 200, 400), (0.015, 0.02, 0.05)):
        found = row(Fresh("equal", files, 0.45, 0.1, "few files", 0.8 * 0.45 * few, few=few), clustered, times)
        print(f"| {files} | {few:.1%} | {found.given:.2f} | {found.covered:.3f} |", flush=True)


BLOCKS: dict[str, Callable[[int], None]] = {
    "wavering": wavering,
    "merged": merged,
    "several": several,
    "ranks": ranks,
    "rates": rates,
    "few-files": few_files,
}


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--times", type=int, default=400, help="comparisons of each world")
    options.add_argument("--only", choices=sorted(BLOCKS), help="one block")
    given = options.parse_args()
    for name, block in BLOCKS.items():
        if given.only in {None, name}:
            block(given.times)


if __name__ == "__main__":
    main()
