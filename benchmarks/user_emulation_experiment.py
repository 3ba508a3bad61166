"""Are logs of a modelled user as good as a person's? The experiment of the thesis (section 4.2), without people.

python benchmarks/user_emulation_experiment.py [--users 10] [--tokens 1200] [--folder DIR]

Ten hidden users stand for people: each richer than any table (asks by kind of token, starts by kind, is reluctant at
the last character, tires), and each with numbers of their own. For each, 15 projects are dealt out anew: the logs of 6
(A) train rankers, those of 6 (B) judge them, those of 3 (C) choose one of four emulated users. Every list is asked for
once, at every prefix; users only choose among them. Labels are as in logs: a list counts if its session ended in taking
the text that it offers.

Written down before the first run, and not changed after it:

- Every log is cut, by whole sessions drawn at random, to as many lists as the arm with the fewest has, so that
  arms differ in what they log and not in how much. All rankers have the same number of trees.
- Arms: the user's own logs (what the others are compared with); the same user living through A once more (noise
  floor); names only, and all tokens, without emulation, with nothing typed and with one letter; emulated users with
  tables fitted to A's logs and of three profiles; of these four, the one whose Top-1 on C is nearest to the own logs'.
- Figure: Top-1 on B, in each pair of user and project; the mean over pairs of the differences. Intervals take users and
  projects for samples (two-way clusters: Cameron, Gelbach & Miller 2011; never narrower than one way alone), t with
  as many degrees of freedom as the smaller number allows.
- As good as a person's: the 90 % interval of (chosen on C - own logs) lies within ±1 point, the thesis's threshold.
- Emulation helps: the 95 % interval of (chosen on C - all tokens, one letter) does not hold 0. It makes no difference
  that matters: its 90 % interval lies within ±0.5 points. The same against nothing typed.
- Everything else is description. So are the uncut logs, which show what their size alone does.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ci_eval.core.base.chance import draw
from ci_eval.core.logs.features import CATEGORIES, NAMES
from ci_eval.core.model import Kind, Session
from ci_eval.core.statistics.student import critical_values
from ci_eval.core.user_model import PROFILES, Emulated, UserModel
from ci_eval.core.workspace import Workspace
from ci_eval.plugins.learning.rankers import lightgbm
from ci_eval.plugins.learning.training import LEARNING, LoggedLookup, LookupRows, ShownList, fit_user, read_lookups

PROJECTS = (
    "rich==13.9.4", "werkzeug==3.0.4", "click==8.1.7", "jinja2==3.1.4", "flask==3.0.3", "requests==2.32.3",
    "attrs==24.2.0", "httpx==0.27.2", "marshmallow==3.22.0", "sqlparse==0.5.1", "tornado==6.4.1", "markdown==3.7",
    "docutils==0.21.2", "itsdangerous==2.2.0", "pluggy==1.5.0",
)  # fmt: skip
TRAIN, CHOOSE = 6, 3
"""Projects of group A and of group C; the others are group B."""
SHOWN = 50
"""Suggestions of a list that a person may see."""
TREES = 80
NAMES_ONLY = frozenset({Kind.METHOD_CALL, Kind.FIELD, Kind.VARIABLE})
AS_GOOD = 0.01
"""Of the thesis: differences in Top-1 up to here count as none."""
MATTERS = 0.005
ORDER = NAMES.index("query")


@dataclass(frozen=True)
class List:
    """What was shown at one prefix."""

    rows: NDArray[np.float32]
    rank: int | None


@dataclass(frozen=True)
class Token:
    """One completable token, and the lists at all its prefixes."""

    id: str
    kind: Kind
    lists: tuple[List, ...]


Asked = tuple[Token, int, int, bool]
"""A query: token, characters typed, number of the query in its session, whether the session ended in a selection."""
Life = Callable[[Token], list[Asked]]
"""What a user does at a token."""


def tokens(folder: Path, spec: str, limit: int) -> list[Token]:
    """Of a project; evaluated once and kept in `folder`."""
    workspace = folder / spec.partition("==")[0]
    if not (workspace / "logs" / "manifest.json").exists():
        subprocess.run(
            [
                sys.executable, "-m", "ci_eval", "evaluate", "--project", f"pypi:{spec}", "--engine", "words",
                "--completion-type", "FREQUENCY", "--output", workspace,
                "--set", "actions.strategy.prefix={name: EveryPrefix}",
                "--set", f"interpret.sessionsLimit={limit}", "--set", "interpret.saveLogs=true",
            ],
            check=True, stdout=subprocess.DEVNULL,
        )  # fmt: skip
    return list(_tokens_of(workspace))


def _tokens_of(folder: Path) -> Iterator[Token]:
    lists: dict[tuple[str, int], List] = {}
    for side in ("train", "validation"):
        for query in read_lookups(folder / "logs" / f"{side}.parquet"):
            lists[query.session, query.number] = _listed(query)
    nothing = List(np.empty((0, len(NAMES)), np.float32), None)
    for _, sessions in Workspace(folder).sessions(Session):
        for session in sessions:
            length = len(session.expected_text)
            if length > 1 and len(session.lookups) == length:
                all_of_it = tuple(lists.get((session.id, typed), nothing) for typed in range(length))
                yield Token(session.id, session.properties.kind, all_of_it)


def _listed(query: LoggedLookup) -> List:
    places = np.flatnonzero(query.expected[:SHOWN])
    return List(query.rows[:SHOWN], int(places[0]) + 1 if len(places) else None)


# --------------------------------------------------------------------------------------------------------------- users

ASKS = {
    Kind.FIELD: 0.95, Kind.METHOD_CALL: 0.95, Kind.VARIABLE: 0.8, Kind.TYPE_REFERENCE: 0.8, Kind.IMPORT: 0.7,
    Kind.ARGUMENT_NAME: 0.7, Kind.KEYWORD: 0.3,
}  # fmt: skip
MEMBERS = frozenset({Kind.FIELD, Kind.METHOD_CALL})
TAKES = (0.75, 0.5, 0.35, 0.25, 0.2, 0.03)


@dataclass(frozen=True)
class Hidden:
    """A user whom no table of ours can describe; `life`: the same one, living once more."""

    number: int
    life: int = 0

    def trait(self, what: str, low: float, high: float) -> float:
        """A number that is this user's own."""
        return low + (high - low) * draw(self.number, f"hidden user's {what}")

    def __call__(self, token: Token) -> list[Asked]:
        """What this user does at a token."""

        def chance(what: str) -> float:
            return draw(self.number, f"{token.id} hidden {what} {self.life}")

        length, kind = len(token.lists), token.kind
        asks = ASKS.get(kind, 0.5) * self.trait(f"interest in {kind.value}", 0.6, 1.05)
        if chance("asks") > asks * (self.trait("interest in short names", 0.3, 1) if length < 4 else 1):
            return []
        typed = min(self._start(token, chance), length - 1)
        asked: list[tuple[int, int]] = []
        for order, at in enumerate(range(typed, length)):
            asked.append((at, order))
            if chance(f"takes {order}") < self._takes(token.lists[at].rank, order, last=at == length - 1):
                return [(token, at, order, True) for at, order in asked]
            if chance(f"tires {order}") < self.trait("fatigue", 0, 0.06) + self.trait("tiring", 0, 0.12) * order:
                break
        return [(token, at, order, False) for at, order in asked]

    def _start(self, token: Token, chance: Callable[[str], float]) -> int:
        at_once = self.trait("haste at members", 0.1, 0.6) if token.kind in MEMBERS else self.trait("haste", 0, 0.15)
        if chance("start at once") < at_once:
            return 0
        one = self.trait("first letter", 0.5, 0.9)
        later = chance("start")
        return 1 if later < one else 2 if later < one + (1 - one) * 0.7 else 3

    def _takes(self, rank: int | None, order: int, *, last: bool) -> float:
        if rank is None:
            return 0
        share: float = TAKES[min(rank, len(TAKES)) - 1] ** self.trait("choosiness", 0.6, 1.6)
        return share * (1 + self.trait("resolve", 0, 0.25) * order) * (self.trait("laziness", 0.1, 0.8) if last else 1)


def emulated(model: UserModel, seed: int) -> Life:
    """A user of tables."""

    def lives(token: Token) -> list[Asked]:
        user = Emulated(model, seed, token.id, len(token.lists))
        asked: list[tuple[int, int]] = []
        taken = False
        for typed, each in enumerate(token.lists):
            prefix = "x" * typed
            if user.asks(prefix):
                asked.append((typed, len(asked)))
                taken = user.takes(each.rank, prefix)
        return [(token, typed, order, taken) for typed, order in asked]

    return lives


def without_emulation(typed: int, kinds: frozenset[Kind] = frozenset(Kind)) -> Life:
    """One query after so many letters, at tokens of these kinds, and what is there is taken."""
    return lambda token: [(token, typed, 0, token.lists[typed].rank is not None)] if token.kind in kinds else []


# ------------------------------------------------------------------------------------------------------------ rankers


def log(life: Life, of: Iterable[Token], seed: int) -> list[Asked]:
    """The lists of the sessions that ended in taking the text they offer, whole sessions in random order."""
    order = sorted(of, key=lambda token: draw(seed, f"{token.id} cut"))
    return [each for token in order for each in life(token) if each[3] and _learnable(token.lists[each[1]])]


def _learnable(shown: List) -> bool:
    return shown.rank is not None and len(shown.rows) > 1


def queries(asked: Sequence[Asked]) -> LookupRows:
    """As a ranker reads them."""
    rows, sizes, positive = [], [], []
    for token, typed, order, _ in asked:
        each = token.lists[typed]
        assert each.rank is not None
        features = each.rows.copy()
        features[:, ORDER] = order
        rows.append(features)
        sizes.append(len(features))
        positive.append(each.rank - 1)
    return LookupRows(np.concatenate(rows), np.array(sizes), np.array(positive))


def trained(asked: Sequence[Asked], seed: int) -> Any:
    """A ranker of a fixed size."""
    given = queries(asked)
    lgb = lightgbm()
    categories = [NAMES.index(name) for name in CATEGORIES]
    data = lgb.Dataset(
        given.rows, given.labels, group=given.sizes, feature_name=list(NAMES), categorical_feature=categories
    )
    return lgb.train({**LEARNING, "seed": seed, "num_threads": 1}, data, TREES)


def top1(booster: Any, given: LookupRows) -> float:
    """Share of the lists whose expected text it puts first; ties share the place."""
    predicted = booster.predict(given.rows, num_threads=1)
    own = np.repeat(predicted[given.begins + given.positive], given.sizes)
    ahead = np.add.reduceat(predicted > own, given.begins)
    alike = np.add.reduceat(predicted == own, given.begins)
    return float(((ahead == 0) / alike).mean())


# ---------------------------------------------------------------------------------------------------------- experiment

OWN, AGAIN = "the user's own logs", "the same user once more (noise floor)"
ONE_LETTER, NOTHING_TYPED = "all tokens, one letter, no emulation", "all tokens, nothing typed, no emulation"
CHOSEN = "emulation, chosen on C"
UNCUT = " (uncut)"


@dataclass
class Cells:
    """Top-1 of each arm in each pair of user and project."""

    top1: dict[str, dict[tuple[int, str], float]] = field(default_factory=dict)
    sizes: dict[str, list[int]] = field(default_factory=dict)
    """Lists of the logs of each arm, before they are cut."""
    chosen: list[str] = field(default_factory=list)

    def against(self, arm: str, other: str) -> dict[tuple[int, str], float]:
        """The differences, pair by pair."""
        return {pair: value - self.top1[other][pair] for pair, value in self.top1[arm].items()}


def live(user: Hidden, projects: Mapping[str, Sequence[Token]], cells: Cells) -> None:
    """All arms of one hidden user."""
    seed = user.number
    dealt = sorted(projects, key=lambda name: draw(seed, f"group of {name}"))
    train = list(chain.from_iterable(projects[name] for name in dealt[:TRAIN]))
    choosing = queries(log(user, chain.from_iterable(projects[n] for n in dealt[TRAIN : TRAIN + CHOOSE]), seed))
    judging = {name: queries(log(user, projects[name], seed)) for name in dealt[TRAIN + CHOOSE :]}
    tables = {
        "fitted": _fitted(user, train),
        **{name: PROFILES[name] for name in ("jetbrains", "thesis", "calibrated")},
    }
    lives: dict[str, Life] = {
        OWN: user,
        AGAIN: Hidden(user.number, life=1),
        "names, nothing typed, no emulation": without_emulation(0, NAMES_ONLY),
        "names, one letter, no emulation (default)": without_emulation(1, NAMES_ONLY),
        NOTHING_TYPED: without_emulation(0),
        ONE_LETTER: without_emulation(1),
        **{f"emulation, {name}": emulated(model, seed + 1) for name, model in tables.items()},
    }
    logs = {name: log(life, train, seed) for name, life in lives.items()}
    size = min(map(len, logs.values()))
    boosters = {name: trained(asked[:size], seed) for name, asked in logs.items()}
    own = top1(boosters[OWN], choosing)
    best = min(tables, key=lambda name: abs(top1(boosters[f"emulation, {name}"], choosing) - own))
    boosters[CHOSEN] = boosters[f"emulation, {best}"]
    logs[CHOSEN] = logs[f"emulation, {best}"]
    boosters |= {name + UNCUT: trained(logs[name], seed) for name in (OWN, ONE_LETTER, CHOSEN)}
    cells.chosen.append(best)
    for name, asked in logs.items():
        cells.sizes.setdefault(name, []).append(len(asked))
    for name, booster in boosters.items():
        cells.top1.setdefault(name, {}).update(
            {(user.number, project): top1(booster, given) for project, given in judging.items()}
        )
    print(f"user {user.number}: logs cut to {size:,} lists; chosen on C: {best}", flush=True)


def _fitted(user: Hidden, train: Iterable[Token]) -> UserModel:
    """Tables that describe the user's logs of A, whether they ended in taking something or not."""
    return fit_user([each for token in train for each in _logged(user(token))]).model


def _logged(session: Sequence[Asked]) -> Iterator[ShownList]:
    """As it would stand in a log: whether the list was taken from, given up at, or typed on after."""
    for place, (token, typed, order, taken) in enumerate(session):
        last = place == len(session) - 1
        end = "selected" if taken else "cancelled" if typed < len(token.lists) - 1 else "typed"
        yield ShownList(token.id, order, typed, token.lists[typed].rank, end if last else "typed")


# ----------------------------------------------------------------------------------------------------------- analysis


@dataclass(frozen=True)
class Mean:
    """Of the differences in all pairs of user and project, with its standard error."""

    value: float
    error: float
    df: int

    def within(self, level: float) -> tuple[float, float]:
        """The interval of that level."""
        reach = float(critical_values(1 - level, self.df)) * self.error
        return self.value - reach, self.value + reach


def mean(cells: Mapping[tuple[int, str], float]) -> Mean:
    """Users and projects are samples both."""
    values = np.array(list(cells.values()))
    rest = values - values.mean()
    ways = []
    for way in range(2):
        _, members = np.unique([str(pair[way]) for pair in cells], return_inverse=True)
        groups = int(members.max()) + 1
        ways.append((float((np.bincount(members, rest) ** 2).sum()) * groups / (groups - 1), groups))
    alone = float((rest**2).sum()) * len(values) / (len(values) - 1)
    both = ways[0][0] + ways[1][0] - alone
    error = float(np.sqrt(max(both, *(variance for variance, _ in ways)))) / len(values)
    return Mean(float(values.mean()), error, min(groups for _, groups in ways) - 1)


def table(cells: Cells) -> None:
    """Print a row per arm, and what was written down beforehand."""
    print(f"\nTop-1 with {OWN}: {np.mean(list(cells.top1[OWN].values())):.1%}; chosen on C: {sorted(cells.chosen)}\n")
    print("| logs | lists before the cut | Top-1 - own logs | 95 % | 90 % |\n|---|--:|--:|--:|--:|")
    for name in cells.top1:
        if name != OWN:
            of = OWN + UNCUT if name.endswith(UNCUT) and name != OWN + UNCUT else OWN
            lists = f"{np.mean(cells.sizes[name.removesuffix(UNCUT)]):,.0f}"
            print(f"| {name} | {lists} | {_row(mean(cells.against(name, of)))} |")
    print("\n| pair | difference | 95 % | 90 % |\n|---|--:|--:|--:|")
    for arm, other in (
        (CHOSEN, ONE_LETTER),
        (CHOSEN, NOTHING_TYPED),
        (ONE_LETTER, "names, one letter, no emulation (default)"),
        (NOTHING_TYPED, "names, nothing typed, no emulation"),
    ):
        print(f"| {arm} - {other} | {_row(mean(cells.against(arm, other)))} |")
    print()
    as_good = mean(cells.against(CHOSEN, OWN)).within(0.9)
    print(f"as good as a person's (within ±{AS_GOOD:.0%}): {_inside(as_good, AS_GOOD)}")
    for other in (ONE_LETTER, NOTHING_TYPED):
        found = mean(cells.against(CHOSEN, other))
        low, high = found.within(0.95)
        print(
            f"emulation against {other}: differs {low > 0 or high < 0}; no difference that matters: "
            f"{_inside(found.within(0.9), MATTERS)}"
        )


def _row(found: Mean) -> str:
    spans = [found.within(level) for level in (0.95, 0.9)]
    return f"{100 * found.value:+.2f} | " + " | ".join(f"{100 * low:+.2f} to {100 * high:+.2f}" for low, high in spans)


def _inside(span: tuple[float, float], margin: float) -> bool:
    return -margin < span[0] and span[1] < margin


def main() -> None:
    """Print the table of docs/results/ml.md."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--users", type=int, default=10)
    parser.add_argument("--tokens", type=int, default=1_200, help="of each project")
    parser.add_argument("--folder", type=Path, help="keeps the evaluations there")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        projects = {spec: tokens(given.folder or Path(temporary), spec, given.tokens) for spec in PROJECTS}
        print(f"{sum(map(len, projects.values())):,} tokens in {len(projects)} projects", flush=True)
        cells = Cells()
        for number in range(given.users):
            live(Hidden(100 + number), projects, cells)
        table(cells)


if __name__ == "__main__":
    main()
