"""How often a comparison is wrong, and how often it sees what is there: simulated files, thousands of times.

python benchmarks/verdicts.py [--thorough] [--only before|now|fresh]

Files of equal, lognormal and Pareto sizes (40 sessions each in the mean), 3 to 200 of them; a rate that is 3 to 95 %
and differs from file to file; sessions that change both ways by chance, in some files more than in others; and a loss
that is spread evenly or sits in 5, 10 or 50 % of the files. The truth is known, for files without end. Printed are: how
often the 95 % interval holds it; false verdicts; how often a loss is seen. Beside it stands the method ci-eval had
before: percentiles of a bootstrap over files.

The thresholds (60 files, 20 for a single figure, 1.5 times as wide) were chosen on those worlds, so that these cannot
say how good they are. Fresh worlds can: other sizes (exponential, or as in four released packages), other rates, files
alike within to other degrees, and changes that are of two kinds, or more frequent in large files.
"""

from __future__ import annotations

import argparse
import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np

from ci_eval.core.statistics.clustered import FEWEST_ALIKE, STRETCH, estimate_other_code, figures
from ci_eval.core.statistics.paired import LEVEL
from ci_eval.core.statistics.student import Floats, critical_values

SIZES = ("equal", "lognormal", "pareto")
FILES = (3, 6, 10, 20, 40, 60, 100, 200)
RATES = (0.03, 0.3, 0.6, 0.95)
PARTS = (1.0, 0.5, 0.1, 0.05)
"""Share of the files that a loss sits in."""
MEAN = 40
LOSS = 0.02
MARGIN = 0.005
CHANCE = 0.03
"""Sessions that are lost by chance, and as many that are won; fewer where the rate leaves no room."""


@dataclass(frozen=True)
class World:
    """Files as they come."""

    sizes: str
    files: int
    rate: float
    part: float
    loss: float
    mean: int = MEAN
    noise: float = CHANCE

    def sessions(self, random: np.random.Generator, times: int) -> Floats:
        """Of each file (files x times)."""
        shape = (self.files, times)
        if self.sizes == "equal":
            return np.full(shape, float(self.mean))
        drawn = (
            random.lognormal(np.log(self.mean) - 0.5, 1, shape)
            if self.sizes == "lognormal"
            else self.mean / 3 * (1 + random.pareto(1.5, shape))
        )
        return np.clip(np.floor(drawn), 1, 125 * self.mean)

    def chance(self) -> float:
        """Share of the sessions that are lost by chance."""
        return min(self.noise, 0.3 * self.rate, 0.3 * (1 - self.rate))

    def planted(self) -> float:
        """The loss, as far as there are hits to lose in its files."""
        return min(self.loss, 0.8 * self.rate * self.part)

    def risks(self, random: np.random.Generator, shape: tuple[int, ...]) -> tuple[Floats, Floats]:
        """File by file, the probability of losing a hit, and of making one of a miss."""
        lost = self.chance() / self.rate * random.gamma(1, 1, shape)
        won = self.chance() / (1 - self.rate) * random.gamma(1, 1, shape)
        there = random.random(shape) < self.part
        return np.minimum(lost + there * self.planted() / self.part / self.rate, 1), np.minimum(won, 1)

    def truth(self) -> float:
        """The difference over files without end."""
        lost, won = self.risks(np.random.default_rng(1), (400_000,))
        return float((1 - self.rate) * won.mean() - self.rate * lost.mean())

    def drawn(self, random: np.random.Generator, times: int) -> Floats:
        """So many comparisons (files x times x 4), as the statistics take them."""
        n = self.sessions(random, times)
        of_file = random.beta(8 * self.rate, 8 * (1 - self.rate), n.shape)
        hits = random.binomial(n.astype(int), of_file)
        lost, won = self.risks(random, n.shape)
        new = hits - random.binomial(hits, lost) + random.binomial(n.astype(int) - hits, won)
        return np.stack([hits, n, new, n], axis=-1)


RECORDED = np.array(
    [0.015, 0.029, 0.053, 0.07, 0.106, 0.12, 0.134, 0.168, 0.201, 0.236, 0.269, 0.292, 0.317, 0.331, 0.356, 0.418, 0.44,
     0.456, 0.47, 0.518, 0.618, 0.684, 0.709, 0.747, 0.797, 0.86, 0.936, 1.017, 1.092, 1.195, 1.312, 1.455, 1.54, 1.775,
     2.012, 2.277, 2.46, 2.718, 3.579, 6.702]
)  # fmt: skip
"""Sessions per file as quantiles, by the mean: 173 files of rich 13.9.4, werkzeug 3.0.4, click 8.1.7, flask 3.0.3."""
FRESH_SIZES = ("equal", "exponential", "recorded")
FRESH_FILES = (60, 100, 200, 400)
FRESH_RATES = (0.08, 0.45, 0.88)
ALIKE = (0.01, 0.1, 0.4)
"""Correlation of two sessions of one file: how much files differ in their rate."""
CHANGES = ("heavy", "two kinds", "large files", "few files")


@dataclass(frozen=True)
class Fresh:
    """Files of other kinds than those that the thresholds were chosen on."""

    sizes: str
    files: int
    rate: float
    alike: float
    changes: str
    """`heavy`: some files change a lot by chance; `two kinds`: of one file in three the rate is another, and four times
    as much changes; `large files`: the more, the larger; `few files`: the loss sits in `few` of them."""
    loss: float
    noise: float = CHANCE
    few: float = 0.07
    """Share of the files."""

    def sessions(self, random: np.random.Generator, shape: tuple[int, ...]) -> Floats:
        """Of each file."""
        if self.sizes == "equal":
            return np.full(shape, float(MEAN))
        drawn = random.exponential(1, shape) if self.sizes == "exponential" else random.choice(RECORDED, shape)
        return np.asarray(np.maximum(np.floor(MEAN * drawn), 1))

    def files_(self, random: np.random.Generator, shape: tuple[int, ...]) -> tuple[Floats, Floats, Floats, Floats]:
        """Of each file: sessions, rate, and the probabilities of losing a hit, and of making one of a miss."""
        n, scale = self.sessions(random, shape), (1 - self.alike) / self.alike
        rate = random.beta(self.rate * scale, (1 - self.rate) * scale, shape)
        often, loss = random.lognormal(-0.72, 1.2, (2, *shape)), np.full(shape, self.planted())
        if self.changes == "two kinds":
            other = random.random(shape) < 1 / 3
            rate = np.where(other, 1 - rate, rate)
            often, loss = often * np.where(other, 2, 0.5), loss * np.where(other, 2, 0.5)
        elif self.changes == "large files":
            often, loss = often * (n / MEAN) ** 0.5, loss * n / MEAN
        elif self.changes == "few files":
            loss = np.where(random.random(shape) < self.few, loss / self.few, 0)
        chance = min(self.noise, 0.2 * self.rate, 0.2 * (1 - self.rate))
        lost, won = chance * often[0] / self.rate + loss / self.rate, chance * often[1] / (1 - self.rate)
        return n, rate, np.minimum(lost, 1), np.minimum(won, 1)

    def planted(self) -> float:
        """The loss, as far as there are hits to lose in its files."""
        return min(self.loss, 0.8 * self.rate * (self.few if self.changes == "few files" else 1))

    def truth(self) -> float:
        """The difference over files without end."""
        n, rate, lost, won = self.files_(np.random.default_rng(1), (2_000_000,))
        return float((n * ((1 - rate) * won - rate * lost)).sum() / n.sum())

    def figure(self) -> float:
        """Base's rate over files without end."""
        n, rate, *_ = self.files_(np.random.default_rng(2), (2_000_000,))
        return float((n * rate).sum() / n.sum())

    def drawn(self, random: np.random.Generator, times: int) -> Floats:
        """So many comparisons (files x times x 4), as the statistics take them."""
        n, rate, lost, won = self.files_(random, (self.files, times))
        hits = random.binomial(n.astype(int), rate)
        new = hits - random.binomial(hits, lost) + random.binomial(n.astype(int) - hits, won)
        return np.stack([hits, n, new, n], axis=-1)


@dataclass
class Counts:
    """Of the comparisons of one world."""

    given: float
    """Share that has an interval."""
    covered: float
    better: float
    worse: float
    equivalent: float

    @classmethod
    def of(cls, low: Floats, high: Floats, truth: float, stretch: float) -> Counts:
        """Shares of those that have an interval; nan where hardly one has."""
        given = np.isfinite(low)
        if given.mean() < 0.1:
            return cls(float(given.mean()), *[float("nan")] * 4)
        low, high = low[given], high[given]
        middle, half = (low + high) / 2, (high - low) / 2 * stretch
        seen = [
            (low <= truth) & (truth <= high),
            low > 0,
            high < 0,
            (middle - half > -MARGIN) & (middle + half < MARGIN),
        ]
        return cls(float(given.mean()), *(float(each.mean()) for each in seen))


def clustered(rows: Floats, fewest: float = 0) -> tuple[Floats, Floats]:
    """Intervals as ci-eval gives them, one per comparison; nan where it gives none."""
    spread, effective = estimate_other_code(rows)
    reach = critical_values(1 - LEVEL, spread.df) * spread.error
    reach = np.where(effective >= fewest, reach, np.nan)
    return spread.center - reach, spread.center + reach


def alike(rows: Floats) -> tuple[Floats, Floats]:
    """The same, where there are enough files to call other code equivalent."""
    return clustered(rows, FEWEST_ALIKE)


def percentiles(rows: Floats) -> tuple[Floats, Floats]:
    """As ci-eval gave them: percentiles of the difference over resamples of the files."""
    files = len(rows)
    times = np.random.default_rng(1).multinomial(files, np.full(files, 1 / files), size=500).astype(float)
    lost, n = (times @ each for each in (rows[:, :, 2] - rows[:, :, 0], rows[:, :, 1]))
    low, high = np.quantile(lost / n, [(1 - LEVEL) / 2, (1 + LEVEL) / 2], axis=0)
    return low, high


Method = Callable[[Floats], tuple[Floats, Floats]]


def row(world: World | Fresh, method: Method, times: int) -> Counts:
    """What the method says of so many comparisons of that world."""
    number = zlib.crc32(repr(world).encode())
    low, high = method(world.drawn(np.random.default_rng([3, number]), times))
    return Counts.of(low, high, world.truth(), 1 if method is percentiles else STRETCH)


def spans(method: Method, times: int, what: str, loss: float, files: Sequence[int] = FILES, **more: float) -> None:
    """Print, by size and number of files, the lowest and highest share over rates and parts that have such a loss."""
    print("| files | " + " | ".join(map(str, files)) + " |\n|---|" + "--:|" * len(files), flush=True)
    for sizes in SIZES:
        cells = []
        for count in files:
            found = [World(sizes, count, rate, part, loss, **more) for rate, part in product(RATES, PARTS)]  # type: ignore[arg-type]
            whole = [world for world in found if what == "covered" or world.planted() == loss]
            values = [getattr(row(world, method, times), what) for world in whole]
            given = [value for value in values if not np.isnan(value)]
            cells.append(f"{min(given):.3f} to {max(given):.3f}" if given else "none")
        print(f"| {sizes} | " + " | ".join(cells) + " |", flush=True)
    print()


def fresh(times: int) -> None:
    """Print, for the fresh worlds of each size, how often an interval holds the truth, and where that is lowest."""
    print("95 % intervals that hold a loss of two points\n")
    print("| files | sizes | comparisons | given | lowest | mean | highest | 93 to 97 % | lowest where |")
    print("|--:|---|--:|--:|--:|--:|--:|--:|---|", flush=True)
    for files, sizes in product(FRESH_FILES, FRESH_SIZES):
        worlds = [Fresh(sizes, files, *each, LOSS) for each in product(FRESH_RATES, ALIKE, CHANGES)]
        _spread(files, sizes, times, [(world, row(world, clustered, times)) for world in worlds])
    fresh_equivalent(times)
    fresh_figures(times)


def fresh_equivalent(times: int) -> None:
    """Print how often other code is called equivalent though it is not, and how often if it took no more files."""
    print("\ncalled equivalent, though the loss is as large as the margin\n")
    print("| files | sizes | given | mean | highest |\n|--:|---|--:|--:|--:|", flush=True)
    for files, sizes in product((100, 200, 300, 400, 700), FRESH_SIZES):
        worlds = [Fresh(sizes, files, *each, MARGIN, 0, 0.08) for each in product(FRESH_RATES, ALIKE, CHANGES)]
        # Where rates are of two kinds, or the loss is larger in large files, it is not as large as the margin.
        method = alike if files >= FEWEST_ALIKE else clustered
        found = [row(world, method, times) for world in worlds if abs(world.truth() + MARGIN) < MARGIN / 50]
        shares = [each.equivalent for each in found if not np.isnan(each.equivalent)]
        if shares:
            given = np.mean([each.given for each in found])
            print(f"| {files} | {sizes} | {given:.2f} | {np.mean(shares):.3f} | {max(shares):.3f} |", flush=True)


def fresh_figures(times: int) -> None:
    """Print how often the interval of a single figure holds it."""
    print(
        "\nsingle figures\n\n| files | sizes | figures | given | lowest | mean | highest | 93 to 97 % | lowest where |"
    )
    print("|--:|---|--:|--:|--:|--:|--:|--:|---|", flush=True)
    for files, sizes in product((20, 30, *FRESH_FILES), FRESH_SIZES):
        worlds = [
            Fresh(sizes, files, rate, alike, kind, 0) for rate in FRESH_RATES for alike in ALIKE for kind in KINDS
        ]
        _spread(files, sizes, times, [(world, one_figure(world, times)) for world in worlds])


KINDS = ("heavy", "two kinds")
"""Of single figures: what changes does not matter."""


def _spread(files: int, sizes: str, times: int, found: Sequence[tuple[Fresh, Counts]]) -> None:
    given = [(counts.covered, world) for world, counts in found if not np.isnan(counts.covered)]
    if not given:
        print(f"| {files} | {sizes} | {len(found)} x {times} | none |", flush=True)
        return
    covered = np.array([share for share, _ in given])
    worst = min(given, key=lambda each: each[0])[1]
    print(
        f"| {files} | {sizes} | {len(given)} x {times} | {np.mean([counts.given for _, counts in found]):.2f} | "
        f"{covered.min():.3f} | {covered.mean():.3f} | {covered.max():.3f} | "
        f"{np.mean((covered >= 0.93) & (covered <= 0.97)):.0%} | "
        f"rate {worst.rate}, alike {worst.alike}, {worst.changes} |",
        flush=True,
    )


def one_figure(world: Fresh, times: int) -> Counts:
    """How often the interval of base's figure holds it."""
    random = np.random.default_rng([9, zlib.crc32(repr(world).encode())])
    found = figures(world.drawn(random, times)[:, :, :2], [(0.0, 1.0)] * times)
    ends = [(np.nan if each.low is None else each.low, np.nan if each.high is None else each.high) for each in found]
    low, high = np.array(ends).T
    return Counts.of(low, high, world.figure(), 1)


def before(times: int) -> None:
    """Print what the bootstrap over files says."""
    print("## Before: percentiles of a bootstrap over files\n\n95 % intervals that hold a loss of two points\n")
    spans(percentiles, times // 5, "covered", LOSS, (3, 10, 60, 200))
    print("called equivalent, at a loss of two points, where nothing changes by chance\n\n| files | share |\n|---|--:|")
    for files, mean in ((2, 20), (3, 30)):
        quiet = World("equal", files, 0.6, 1.0, LOSS, mean, noise=0.0)
        print(f"| {files} of {mean} sessions | {row(quiet, percentiles, times).equivalent:.3f} |")


def now(times: int) -> None:
    """Print what the intervals say on the worlds that the thresholds were chosen on."""
    print("\n## Now\n\n95 % intervals that hold a loss of two points\n")
    spans(clustered, times, "covered", LOSS, (40, 60, 100, 200))
    print("called equivalent, though the loss is as large as the margin\n")
    spans(alike, times, "equivalent", MARGIN, (300, 800), noise=0.0)


def main() -> None:
    """Print all tables."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--thorough", action="store_true", help="many more comparisons: an hour")
    options.add_argument("--only", choices=["before", "now", "fresh"], help="one block")
    given = options.parse_args()
    many, only = given.thorough, given.only
    times = 2_000 if many else 500
    if only in {None, "before"}:
        before(times)
    if only in {None, "now"}:
        now(times)
    if only in {None, "fresh"}:
        print("\n## Fresh worlds\n")
        fresh(1_000 if many else 200)


if __name__ == "__main__":
    main()
