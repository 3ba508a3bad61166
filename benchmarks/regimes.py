"""A simulation of wrong verdicts, through the code that commands run.

python benchmarks/regimes.py [--times 100] [--only NAME]

Each regime draws a project and the answers of two engines, stores them as workspaces (files, rounds, second questions,
merged projects), and lets `compare` and `evaluate` read these, as `ci-eval compare` and `ci-eval report` do, but
without pages. The truth is what the engines answer on average, over all sessions of the project. Printed are the
comparisons with a false verdict on RecallAt1 (of engines that are alike, or to the wrong side), those that show the
true difference, how many intervals hold the truth, and how many intervals of new's own figure do.
"""

from __future__ import annotations

import argparse
import shutil
import tempfile
import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ci_eval.core.catalogs import metrics
from ci_eval.core.compare.compare import compare
from ci_eval.core.filters import EVERYTHING, ReportFilter, ReportFilters, sampling_classes
from ci_eval.core.interpret.selection import share_twice
from ci_eval.core.manifest import Manifest
from ci_eval.core.model import (
    Determinism,
    EngineInfo,
    FileActions,
    Kind,
    LookupScore,
    ProjectInfo,
    Properties,
    SessionScore,
    SourceFile,
    Status,
    Verdict,
)
from ci_eval.core.model.sessions import Otherwise
from ci_eval.core.report.report import evaluate
from ci_eval.core.workspace import Workspace, pack_actions, pack_sessions

Ranks = NDArray[np.int64]
METRICS = [metric for metric in metrics.load() if metric.info.name in {"RecallAt1", "MeanReciprocalRank"}]
HEADLINE = "names, Prefix 1"
FILTERS = ReportFilters(all=(ReportFilter(name=EVERYTHING),), headline=EVERYTHING)
SHOWN = {Verdict.BETTER, Verdict.WORSE}
PROPERTIES = Properties(kind=Kind.VARIABLE)


@dataclass(frozen=True, kw_only=True)
class Draw:
    """A project, with what two engines answered once, or round by round: the rank of each session, 0 if absent."""

    files: Ranks
    """The number of the file of each session, of all sessions of the project."""
    base: Sequence[Ranks]
    new: Sequence[Ranks]
    truth: float
    """The true difference of RecallAt1."""
    figure: float
    """New's true RecallAt1."""
    asked: Ranks | None = None
    """The indices of the sessions that were asked; None = all."""
    again: tuple[Ranks, Ranks] | None = None
    """What the engines answered to a second question, in each session."""
    projects: Ranks | None = None
    """The number of the project of each file."""
    texts: Ranks | None = None
    """The number of the text of each file, if some are equal."""
    code: float | None = None
    """The true difference in other code; None = as in this project."""
    leading: NDArray[np.bool_] | None = None
    """Whether each session is the headline's, if the sample was drawn by classes."""


def write(
    folder: Path, draw: Draw, rounds: Sequence[Ranks], again: Ranks | None, twice: NDArray[np.bool_]
) -> Workspace:
    """Store what one engine answered as a workspace."""
    workspace = Workspace.create(folder)
    asked = np.arange(len(draw.files)) if draw.asked is None else np.sort(draw.asked)
    state = Determinism()
    for file in np.unique(draw.files).tolist():
        project = 0 if draw.projects is None else int(draw.projects[file])
        path = f"p{project}/f{file}.py" if draw.projects is not None else f"f{file}.py"
        own, checksum = np.flatnonzero(draw.files == file), str(file if draw.texts is None else draw.texts[file])
        actions = FileActions(path=path, checksum=checksum, sessions=len(own), unparsable=0.0, actions=())
        workspace.write_actions(path, pack_actions(actions))
        sessions = []
        for session in np.intersect1d(own, asked, assume_unique=True).tolist():
            answers = [int(ranks[session]) for ranks in rounds]
            differing = sum(answer != answers[0] for answer in answers)
            if again is not None and twice[session]:
                differing = int(again[session] != answers[0])
            repeated = again is not None and bool(twice[session])
            if repeated or len(rounds) > 1:
                state += Determinism(asked=1, differed=int(differing > 0))
            sessions.append(
                SessionScore(
                    id=f"{session:08}", file=path, offset=session, expected_text="x", properties=PROPERTIES,
                    status=Status.OK, rounds=len(rounds), again=int(repeated), differing=differing,
                    typed=int(draw.leading is not None and draw.leading[session]), lookups=(_lookup(answers[0]),),
                    otherwise=tuple(
                        Otherwise(round=number, status=Status.OK, lookups=(_lookup(answer),))
                        for number, answer in enumerate(answers) if answer != answers[0]
                    ),
                )
            )  # fmt: skip
        if sessions:
            workspace.write_sessions(path, pack_sessions(SourceFile(path=path, checksum=checksum, text=""), sessions))
    info = ProjectInfo(spec="path:p", name="p", revision="1", checksum="c")
    count = 0 if draw.projects is None else int(draw.projects.max()) + 1
    strata: dict[str, dict[str, int]] = {}
    if draw.leading is not None:
        headline, *others = sampling_classes(HEADLINE)
        sizes = {headline: int(draw.leading.sum()), "names": int((~draw.leading).sum())}
        strata = {"": {name: sizes.get(name, 0) for name in (headline, *others, "")}}
    workspace.write_manifest(
        Manifest(
            ci_eval="", title="", language="python", completion_type="BASIC", client="editor", strategy="", seed=0,
            engine=EngineInfo(name="engine", version="1"), project=info, projects=(info,) * count, grammar="",
            python="", os="", jobs=1, start="2026-01-01T00:00:00+00:00", generated=len(draw.files),
            planned=len(asked), finished=len(asked), rounds=len(rounds), strata=strata,
            state=state if state.asked else None,
        )
    )  # fmt: skip
    return workspace


def _lookup(rank: int) -> LookupScore:
    return LookupScore(prefix="", total=30, rank=rank or None, latency=1.0)


@dataclass
class Counts:
    """A count of comparisons by their verdicts, and of intervals by whether they hold the truth."""

    times: int = 0
    false: int = 0
    shown: int = 0
    held: list[bool] = field(default_factory=list)
    figure_held: list[bool] = field(default_factory=list)
    exact: int = 0
    code_false: int = 0

    def add(self, draw: Draw, random: np.random.Generator) -> None:
        """Store the draw, compare its sides, and count what is said of them."""
        folder = Path(tempfile.mkdtemp(prefix="regime-"))
        try:
            asked = len(draw.files) if draw.asked is None else len(draw.asked)
            twice = random.random(len(draw.files)) < share_twice(asked)
            again = draw.again or (None, None)
            base = write(folder / "base", draw, draw.base, again[0], twice)
            new = write(folder / "new", draw, draw.new, again[1], twice)
            comparison = compare(base, new, METRICS, FILTERS, ["RecallAt1"])
            figure = evaluate(new, METRICS, FILTERS).filters["ALL"].metrics["RecallAt1"]
        finally:
            shutil.rmtree(folder)
        difference = comparison.filters["ALL"]["RecallAt1"]
        elsewhere = difference.elsewhere.verdict
        code = draw.truth if draw.code is None else draw.code
        wrong = [is_false(difference.verdict, draw.truth), is_false(elsewhere, code)]
        self.times += 1
        self.false += wrong[0]
        self.code_false += wrong[1]
        self.shown += difference.verdict in SHOWN and not wrong[0]
        self.exact += difference.state == "exact" or figure.state == "exact"
        if difference.low is not None and difference.high is not None:
            self.held.append(difference.low - 1e-12 <= draw.truth <= difference.high + 1e-12)
        if figure.low is not None and figure.high is not None:
            self.figure_held.append(figure.low - 1e-12 <= draw.figure <= figure.high + 1e-12)

    def row(self, name: str) -> str:
        """Return a row of a Markdown table."""
        held, of_figure = (f"{np.mean(of):.1%}" if of else "none" for of in (self.held, self.figure_held))
        shares = [f"{count / self.times:.1%}" for count in (self.false, self.code_false, self.shown, self.exact)]
        return f"| {name} | {' | '.join([*shares, held, of_figure])} |"


def is_false(verdict: Verdict, truth: float) -> bool:
    """Return whether a verdict shows a difference that is none, or that is one to the other side."""
    return verdict in SHOWN and (truth == 0 or (verdict is Verdict.BETTER) != (truth > 0))


HEAD = "| regime | false | false, other code | shown | exact | holds | figure holds |\n|---|--:|--:|--:|--:|--:|--:|"


def usual(random: np.random.Generator, size: int) -> Ranks:
    """Return the ranks that an engine usually gives."""
    return random.choice([0, 1, 2, 4, 9, 30], p=[0.06, 0.52, 0.16, 0.12, 0.08, 0.06], size=size)


def first(ranks: Ranks) -> NDArray[np.float64]:
    """Return whether each rank is the first."""
    return np.asarray(ranks == 1, dtype=np.float64)


def sizes_of(random: np.random.Generator, files: int, size: int, *, skewed: bool = False) -> Ranks:
    """Return the file of each session."""
    shares = random.pareto(1.2, files) + 0.05 if skewed else np.ones(files)
    return np.sort(random.choice(files, p=shares / shares.sum(), size=size))


def lose(random: np.random.Generator, ranks: Ranks, loss: float) -> Ranks:
    """Return the ranks after so large a share of all sessions lost its first rank."""
    return np.where((ranks == 1) & (random.random(len(ranks)) < loss / 0.52), 3, ranks)


def waver(random: np.random.Generator, ranks: Ranks, flips: NDArray[np.bool_], *, down: bool = False) -> Ranks:
    """Return the ranks with those that flip: first and second rank are swapped, or (`down`) first ranks are lost."""
    if down:
        return np.where(flips & (ranks == 1), random.choice([0, 3], size=len(ranks)), ranks)
    return np.where(flips & (ranks == 1), 2, np.where(flips & (ranks == 2), 1, ranks))


@dataclass(frozen=True, kw_only=True)
class Waver:
    """Two engines that answer otherwise now and then, of which the second may lose first ranks."""

    sessions: int = 600
    files: int = 20
    kind: str = "none"
    """What varies: none, session, file (with all its sessions), rest (a crash that loses the rest of a file)."""
    share: float = 0.0
    loss: float = 0.0
    rounds: int = 1
    asked: float = 1.0
    skewed: bool = False
    seen: bool = True
    """Whether the second question is to an engine whose state is another one."""

    def answer(self, random: np.random.Generator, ranks: Ranks, files: Ranks) -> Ranks:
        """Return what one process answers."""
        if self.kind == "none":
            return ranks
        if self.kind == "session":
            return waver(random, ranks, random.random(len(ranks)) < self.share)
        bad = random.random(self.files) < self.share
        if self.kind == "rest":
            begins = random.random(self.files)
            place = np.arange(len(files)) - np.searchsorted(files, files)
            length = np.bincount(files, minlength=self.files)[files]
            return waver(random, ranks, bad[files] & (place / length >= begins[files]), down=True)
        return waver(random, ranks, bad[files] & (random.random(len(ranks)) < 0.9), down=True)

    def expected(self, ranks: Ranks, files: Ranks) -> NDArray[np.float64]:
        """Return the mean of what a process answers: the share of first ranks in each session."""
        one, two = first(ranks), (ranks == 2).astype(float)
        if self.kind == "session":
            return np.asarray(one * (1 - self.share) + two * self.share)
        if self.kind == "file":
            return np.asarray(one * (1 - 0.9 * self.share))
        if self.kind == "rest":
            place = np.arange(len(files)) - np.searchsorted(files, files)
            lost = place / np.bincount(files, minlength=self.files)[files]
            return np.asarray(one * (1 - self.share * lost))
        return one

    def __call__(self, random: np.random.Generator) -> Draw:
        size = round(self.sessions / self.asked)
        files = sizes_of(random, self.files, size, skewed=self.skewed)
        base = usual(random, size)
        new = lose(random, base, self.loss)
        sides = [[self.answer(random, ranks, files) for _ in range(self.rounds)] for ranks in (base, new)]
        again = (self.answer(random, base, files), self.answer(random, new, files)) if self.seen else None
        if not self.seen:
            again = (sides[0][0], sides[1][0])
        old, figure = (float(self.expected(ranks, files).mean()) for ranks in (base, new))
        chosen = None if self.asked == 1 else random.choice(size, self.sessions, replace=False)
        truth = figure - old if self.loss else 0.0
        again = again if self.rounds == 1 else None
        return Draw(
            files=files, base=sides[0], new=sides[1], truth=truth, figure=figure, asked=chosen, again=again
        )  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class Classes:
    """A limited sample, two thirds of which are of the headline's class, though that is a fifth of the project: figures
    of all sessions are weighted."""

    of: Waver
    share: float = 0.2

    def __call__(self, random: np.random.Generator) -> Draw:
        draw = replace(self.of, asked=1.0, sessions=round(self.of.sessions / self.of.asked))(random)
        leading = random.random(len(draw.files)) < self.share
        most = min(round(self.of.sessions * 2 / 3), int(leading.sum()))
        parts = [(np.flatnonzero(leading), most), (np.flatnonzero(~leading), self.of.sessions - most)]
        asked = np.concatenate([random.choice(own, size, replace=False) for own, size in parts])
        return replace(draw, leading=leading, asked=asked)


@dataclass(frozen=True, kw_only=True)
class Merged:
    """Merged projects, of each of which no more than a limit was asked: engines that do not vary, asked twice."""

    projects: int = 10
    limit: int = 50
    smallest: int = 60
    largest: int = 600
    files: int = 3
    loss: float = 0.0
    share: float = 0.1
    apart: float = 0.0
    """How far projects differ in what changed, as a standard deviation in points."""

    def __call__(self, random: np.random.Generator) -> Draw:
        files, base, new, asked, projects = [], [], [], [], []
        begin = 0
        for number in range(self.projects):
            size = int(random.integers(self.smallest, self.largest))
            ranks = usual(random, size)
            mine = ranks.copy()
            moved = np.flatnonzero(random.random(size) < self.share)
            half = len(moved) // 2
            # As many first ranks are won as are lost: the truth is 0 before the loss.
            mine[moved[:half]], ranks[moved[:half]] = 2, 1
            mine[moved[half : 2 * half]], ranks[moved[half : 2 * half]] = 1, 2
            shift = random.normal(0, self.apart) if self.apart else 0.0
            change = lose(random, mine, max(shift, 0) + self.loss)
            base.append(lose(random, ranks, max(-shift, 0)))
            new.append(change)
            files.append(number * self.files + sizes_of(random, self.files, size))
            asked.append(begin + random.choice(size, min(self.limit, size), replace=False))
            projects += [number] * self.files
            begin += size
        ours, theirs = np.concatenate(base), np.concatenate(new)
        truth = float(first(theirs).mean() - first(ours).mean())
        return Draw(
            files=np.concatenate(files), base=[ours] * 2, new=[theirs] * 2, truth=truth,
            figure=float(first(theirs).mean()), asked=np.concatenate(asked), projects=np.array(projects),
            code=-self.loss,
        )  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class Copies:
    """Files of which each is there several times, with changes that differ from file to file."""

    files: int = 40
    copies: int = 3
    sessions: int = 20

    def __call__(self, random: np.random.Generator) -> Draw:
        ours, theirs = [], []
        for _ in range(self.files):
            ranks = usual(random, self.sessions)
            lost, won = random.gamma(0.3, 0.1, 2).clip(0, 1)
            ours.append(np.where(random.random(self.sessions) < won, 3, ranks))
            theirs.append(np.where(random.random(self.sessions) < lost, 3, ranks))
        base, new = np.concatenate(ours * self.copies), np.concatenate(theirs * self.copies)
        files = np.repeat(np.arange(self.files * self.copies), self.sessions)
        return Draw(
            files=files, base=[base] * 2, new=[new] * 2, truth=float(first(new).mean() - first(base).mean()),
            figure=float(first(new).mean()), texts=np.tile(np.arange(self.files), self.copies), code=0.0,
        )  # fmt: skip


Regime = Callable[[np.random.Generator], Draw]
PLAIN = Waver()
REGIMES: dict[str, Regime] = {
    "alike, two rounds": replace(PLAIN, rounds=2),
    "loss 2 points, two rounds": replace(PLAIN, rounds=2, loss=0.02),
    "loss 2 points, half asked, two rounds": replace(PLAIN, rounds=2, loss=0.02, asked=0.5),
    "alike, once": PLAIN,
    "loss 2 points, once, 8 files": replace(PLAIN, files=8, loss=0.02),
    "loss 2 points, once, 16 files": replace(PLAIN, files=16, loss=0.02),
    "loss 4 points, once, half asked": replace(PLAIN, loss=0.04, asked=0.5),
    "loss 3 points, once, skewed files": replace(PLAIN, loss=0.03, skewed=True),
    "rare flips 0.1 %, 300, two rounds": replace(PLAIN, sessions=300, kind="session", share=0.001, rounds=2),
    "flips 1 %, 300, once": replace(PLAIN, sessions=300, kind="session", share=0.01),
    "flips 1 %, 300, one file, once": replace(PLAIN, sessions=300, files=1, kind="session", share=0.01),
    "flips 3 %, once": replace(PLAIN, kind="session", share=0.03),
    "flips 3 %, once, skewed files": replace(PLAIN, kind="session", share=0.03, skewed=True),
    "flips 10 %, once": replace(PLAIN, kind="session", share=0.1),
    "flips 10 %, once, half asked": replace(PLAIN, kind="session", share=0.1, asked=0.5),
    "flips 3 %, two rounds": replace(PLAIN, kind="session", share=0.03, rounds=2),
    "flips 3 %, two rounds, half asked": replace(PLAIN, kind="session", share=0.03, rounds=2, asked=0.5),
    "flips 10 %, three rounds": replace(PLAIN, kind="session", share=0.1, rounds=3),
    "flips 3 %, loss 3 points, two rounds": replace(PLAIN, kind="session", share=0.03, loss=0.03, rounds=2),
    "files 5 %, once, seen": replace(PLAIN, kind="file", share=0.05),
    "files 5 %, once, not seen": replace(PLAIN, kind="file", share=0.05, seen=False),
    "files 20 %, once, not seen": replace(PLAIN, kind="file", share=0.2, seen=False),
    "files 5 %, skewed, once, not seen": replace(PLAIN, kind="file", share=0.05, seen=False, skewed=True),
    "files 5 %, two rounds": replace(PLAIN, kind="file", share=0.05, rounds=2),
    "files 20 %, two rounds": replace(PLAIN, kind="file", share=0.2, rounds=2),
    "files 20 %, two rounds, half asked": replace(PLAIN, kind="file", share=0.2, rounds=2, asked=0.5),
    "files 20 %, three rounds, skewed": replace(PLAIN, kind="file", share=0.2, rounds=3, skewed=True),
    "crash 5 %, once": replace(PLAIN, kind="rest", share=0.05),
    "crash 20 %, once": replace(PLAIN, kind="rest", share=0.2),
    "crash 5 %, two rounds": replace(PLAIN, kind="rest", share=0.05, rounds=2),
    "crash 5 %, 200 of 2,000, once": replace(PLAIN, sessions=200, kind="rest", share=0.05, asked=0.1),
    "flips 50 %, two rounds": replace(PLAIN, kind="session", share=0.5, rounds=2),
    "flips 3 %, 40 sessions of two files, two rounds": replace(
        PLAIN, sessions=40, files=2, kind="session", share=0.03, rounds=2
    ),
    "files 50 %, two rounds": replace(PLAIN, kind="file", share=0.5, rounds=2),
    "files 5 %, 200 of 2,000, two rounds": replace(PLAIN, sessions=200, kind="file", share=0.05, asked=0.1, rounds=2),
    "crash 20 %, skewed, three rounds": replace(PLAIN, kind="rest", share=0.2, rounds=3, skewed=True),
    "loss 2 points, 3,000, skewed, once": replace(PLAIN, sessions=3_000, files=60, loss=0.02, skewed=True),
    "merged, 30 unequal": Merged(projects=30),
    "merged, 10 unequal, loss": Merged(loss=0.04),
    "merged, 3 apart": Merged(projects=3, apart=0.05),
    "merged, 10 apart": Merged(apart=0.05),
    "merged, 25 apart": Merged(projects=25, apart=0.05),
    "copies": Copies(),
    "classes, 300 of 3,000, two rounds": Classes(of=replace(PLAIN, sessions=300, asked=0.1, rounds=2)),
    "classes, 300 of 3,000, loss 8 points, two rounds": Classes(
        of=replace(PLAIN, sessions=300, asked=0.1, rounds=2, loss=0.08)
    ),
    "classes, 600 of 2,000, flips 3 %, two rounds": Classes(
        of=replace(PLAIN, asked=0.3, rounds=2, kind="session", share=0.03)
    ),
    "classes, 600 of 2,000, flips 3 %, once": Classes(of=replace(PLAIN, asked=0.3, kind="session", share=0.03)),
    "classes, 600 of 2,000, files 5 %, once": Classes(of=replace(PLAIN, asked=0.3, kind="file", share=0.05)),
}


def simulate(name: str, times: int) -> Counts:
    """Return what is said of so many draws of a regime."""
    counts = Counts()
    for turn in range(times):
        random = np.random.default_rng([61, zlib.crc32(name.encode()), turn])
        counts.add(REGIMES[name](random), random)
    return counts


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--times", type=int, default=100, help="comparisons of each regime")
    parser.add_argument("--only", help="the regimes whose names hold this")
    given = parser.parse_args()
    print(HEAD, flush=True)
    for name in REGIMES:
        if not given.only or given.only in name:
            print(simulate(name, given.times).row(name), flush=True)


if __name__ == "__main__":
    main()
