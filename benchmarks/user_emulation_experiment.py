"""Are logs of a modelled user as good as real ones? The experiment of the thesis (section 4.2), without people.

python benchmarks/user_emulation_experiment.py [--tokens N] [--seeds 7,11,23] [--folder DIR]

A hidden user, richer than any table (asks by kind of token, starts later in long names, tires), stands for the people.
Group A of the files gives "user logs" to train a reference ranker, group B is what all rankers are judged by, group C
chooses among emulated users. Synthetic logs of A in three settings train a ranker each: names only without emulation,
all tokens without emulation, all tokens with emulation. Every list is asked for once, at every prefix; users only
choose among them. The noise floor is the same hidden user living through A once more.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ci_eval.model import Kind, Session
from ci_eval.support.chance import draw
from ci_eval.support.features import CATEGORIES, NAMES
from ci_eval.support.fitting import Query, fitted
from ci_eval.support.model_file import lightgbm
from ci_eval.support.training import LEARNING, LoggedQuery, Queries, queries_in, scores
from ci_eval.support.usermodel import PROFILES, Emulated, UserModel
from ci_eval.workspace import Workspace

PROJECTS = ("pypi:rich==13.9.4", "pypi:werkzeug==3.0.4", "pypi:click==8.1.7", "pypi:jinja2==3.1.4")
SHOWN = 50
"""Suggestions of a list that a person may see."""
TREES = 150
NAMES_ONLY = frozenset({Kind.METHOD_CALL, Kind.FIELD, Kind.VARIABLE})
THRESHOLD = 0.01
"""Of the thesis: differences in Top-1 up to here count as none."""
REPLICATES = 2000
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
    file: str
    kind: Kind
    lists: tuple[List, ...]


Asked = tuple[Token, int, int, bool]
"""A query: token, characters typed, number of the query in its session, whether the session ended in a selection."""


def tokens(folder: Path, limit: int) -> list[Token]:
    """Of all projects; evaluated once and kept in `folder`."""
    found: list[Token] = []
    for number, spec in enumerate(PROJECTS):
        workspace = folder / f"project{number}"
        if not (workspace / "logs" / "manifest.json").exists():
            subprocess.run(
                [
                    sys.executable, "-m", "ci_eval", "evaluate", "--project", spec, "--engine", "words",
                    "--completion-type", "FREQUENCY", "--output", workspace,
                    "--set", "actions.strategy.prefix={name: EveryPrefix}",
                    "--set", f"interpret.sessionsLimit={limit // len(PROJECTS)}", "--set", "interpret.saveLogs=true",
                ],
                check=True, stdout=subprocess.DEVNULL,
            )  # fmt: skip
        found += _tokens_of(workspace, str(number))
    return found


def _tokens_of(folder: Path, project: str) -> Iterator[Token]:
    lists: dict[tuple[str, int], List] = {}
    for side in ("train", "validation"):
        for query in queries_in(folder / "logs" / f"{side}.parquet"):
            lists[query.session, query.number] = _listed(query)
    nothing = List(np.empty((0, len(NAMES)), np.float32), None)
    for _, sessions in Workspace(folder).sessions(Session):
        for session in sessions:
            length = len(session.expected_text)
            if length > 1 and len(session.lookups) == length:
                all_of_it = tuple(lists.get((session.id, typed), nothing) for typed in range(length))
                yield Token(session.id, f"{project}/{session.file}", session.properties.kind, all_of_it)


def _listed(query: LoggedQuery) -> List:
    places = np.flatnonzero(query.expected[:SHOWN])
    return List(query.rows[:SHOWN], int(places[0]) + 1 if len(places) else None)


# --------------------------------------------------------------------------------------------------------------- users

ASKS = {
    Kind.FIELD: 0.95, Kind.METHOD_CALL: 0.95, Kind.VARIABLE: 0.8, Kind.TYPE_REFERENCE: 0.8, Kind.IMPORT: 0.7,
    Kind.ARGUMENT_NAME: 0.7, Kind.KEYWORD: 0.3,
}  # fmt: skip
MEMBERS = frozenset({Kind.FIELD, Kind.METHOD_CALL})
TAKES = (0.75, 0.5, 0.35, 0.25, 0.2, 0.03)


def hidden(token: Token, seed: int) -> list[Asked]:
    """What the hidden user does: no table of ours can say it all."""

    def chance(what: str) -> float:
        return draw(seed, f"{token.id} hidden {what}")

    length = len(token.lists)
    if chance("asks") > ASKS.get(token.kind, 0.5) * (0.6 if length < 4 else 1.0):
        return []
    start = 0
    if chance("start at once") > (0.35 if token.kind in MEMBERS else 0.02):
        later = chance("start")
        start = 1 if later < 0.70 else 2 if later < 0.92 else 3
    asked: list[tuple[int, int]] = []
    for order, typed in enumerate(range(min(start, length - 1), length)):
        asked.append((typed, order))
        rank = token.lists[typed].rank
        if rank is not None:
            share = TAKES[min(rank, len(TAKES)) - 1] * (1 + 0.1 * order) * (0.35 if typed == length - 1 else 1.0)
            if chance(f"takes {order}") < share:
                return [(token, typed, order, True) for typed, order in asked]
        if chance(f"tires {order}") < 0.02 + 0.05 * order:
            break
    return [(token, typed, order, False) for typed, order in asked]


def emulated(model: UserModel) -> Callable[[Token, int], list[Asked]]:
    """A user of tables."""

    def lives(token: Token, seed: int) -> list[Asked]:
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


def one_letter(token: Token, seed: int) -> list[Asked]:  # noqa: ARG001
    """Without emulation: one query after one letter, and what is there is taken."""
    return [(token, 1, 0, token.lists[1].rank is not None)]


# ------------------------------------------------------------------------------------------------------------ rankers


def learnable(asked: Sequence[Asked], *, taken_only: bool) -> tuple[Queries, list[str]]:
    """The queries that offer the expected text among others, and the file of each."""
    rows, sizes, positive, files = [], [], [], []
    for token, typed, order, taken in asked:
        each = token.lists[typed]
        if each.rank is None or len(each.rows) < 2 or (taken_only and not taken):
            continue
        features = each.rows.copy()
        features[:, ORDER] = order
        rows.append(features)
        sizes.append(len(features))
        positive.append(each.rank - 1)
        files.append(token.file)
    return Queries(np.concatenate(rows), np.array(sizes), np.array(positive)), files


def trained(asked: Sequence[Asked], seed: int) -> Any:
    """A ranker of a fixed size, so that settings differ in their logs only."""
    queries, _ = learnable(asked, taken_only=True)
    lgb = lightgbm()
    categories = [NAMES.index(name) for name in CATEGORIES]
    data = lgb.Dataset(
        queries.rows, queries.labels, group=queries.sizes, feature_name=list(NAMES), categorical_feature=categories
    )
    return lgb.train({**LEARNING, "seed": seed, "num_threads": 2}, data, TREES)


def ranks(queries: Queries, predicted: NDArray[Any]) -> NDArray[np.float64]:
    """Of the expected texts; ties get the middle of their places."""
    begins = queries.begins
    own = np.repeat(predicted[begins + queries.positive], queries.sizes)
    ahead = np.add.reduceat(predicted > own, begins)
    return np.asarray(1 + ahead + (np.add.reduceat(predicted == own, begins) - 1) / 2)


@dataclass(frozen=True)
class Judged:
    """A ranker on the hidden user's logs."""

    top1: NDArray[np.float64]
    """Per query: 1 or 0."""
    top5: float
    mean_rank: float


def judged(booster: Any, queries: Queries) -> Judged:
    """Its figures."""
    found = ranks(queries, booster.predict(queries.rows, num_threads=2))
    return Judged((found <= 1).astype(np.float64), float((found <= 5).mean()), float(found.mean()))


def between(difference: NDArray[np.float64], files: Sequence[str]) -> tuple[float, float]:
    """The 95 % interval of a mean, resampling files."""
    names, members = np.unique(files, return_inverse=True)
    sums, counts = np.bincount(members, difference), np.bincount(members)
    times = np.random.default_rng(0).multinomial(len(names), np.full(len(names), 1 / len(names)), size=REPLICATES)
    low, high = np.quantile((times @ sums) / (times @ counts), [0.025, 0.975])
    return float(low), float(high)


# ---------------------------------------------------------------------------------------------------------- experiment


def group_of(file: str, seed: int) -> str:
    """40 % A, 40 % B, 20 % C."""
    drawn = draw(seed, f"group {file}")
    return "A" if drawn < 0.4 else "B" if drawn < 0.8 else "C"


def experiment(everything: Sequence[Token], seed: int) -> None:
    """One seed: a row per setting."""
    groups: dict[str, list[Token]] = {"A": [], "B": [], "C": []}
    for token in everything:
        groups[group_of(token.file, seed)].append(token)
    logs = [each for token in groups["A"] for each in hidden(token, seed)]
    judge, files = learnable([each for token in groups["B"] for each in hidden(token, seed)], taken_only=False)
    chooser, _ = learnable([each for token in groups["C"] for each in hidden(token, seed)], taken_only=False)
    tables_of_a = fitted([_logged(each, logs[place + 1 :][:1]) for place, each in enumerate(logs)]).model
    users = {"fitted": tables_of_a, **{name: PROFILES[name] for name in ("jetbrains", "thesis", "calibrated")}}

    def log(lives: Callable[[Token, int], list[Asked]], kinds: frozenset[Kind] | None = None) -> Any:
        return trained([q for t in groups["A"] if kinds is None or t.kind in kinds for q in lives(t, seed + 1)], seed)

    reference = trained(logs, seed)
    boosters = {
        "default: names, no emulation": log(one_letter, NAMES_ONLY),
        "all tokens, no emulation": log(one_letter),
        **{f"all tokens, emulation ({name})": log(emulated(model)) for name, model in users.items()},
        "the user again (noise floor)": log(hidden),
    }
    on_c = judged(reference, chooser)
    best = min(users, key=lambda name: abs(_gap(boosters[f"all tokens, emulation ({name})"], chooser, on_c)))
    user = judged(reference, judge)
    host = scores(judge, -judge.rows[:, NAMES.index("position")])
    print(
        f"\nseed {seed}: {len(groups['A']):,} tokens in A, {len(judge.sizes):,} queries in B; as shown {host.top1:.2%}"
    )
    print(f"{'user logs':42} Top-1 {user.top1.mean():.2%}  Top-5 {user.top5:.2%}  mean rank {user.mean_rank:.3f}")
    for name, booster in boosters.items():
        found = judged(booster, judge)
        difference = found.top1 - user.top1
        low, high = between(difference, files)
        chosen = " <- chosen on C" if name == f"all tokens, emulation ({best})" else ""
        passes = "within 0.01" if abs(difference.mean()) <= THRESHOLD else ""
        print(
            f"{name:42} Top-1 {difference.mean() * 100:+.2f} ({low * 100:+.2f} to {high * 100:+.2f})  "
            f"Top-5 {(found.top5 - user.top5) * 100:+.2f}  mean rank {found.mean_rank:.3f}  {passes}{chosen}",
            flush=True,
        )


def _gap(booster: Any, queries: Queries, reference: Judged) -> float:
    return float((judged(booster, queries).top1 - reference.top1).mean())


def _logged(asked: Asked, following: Sequence[Asked]) -> Query:
    """As it would stand in a log: whether it was taken, given up, or typed on is seen from what follows."""
    token, typed, order, taken = asked
    goes_on = bool(following) and following[0][0] is token
    outcome = "typed" if goes_on else "selected" if taken else "cancelled" if typed < len(token.lists) - 1 else "typed"
    return Query(token.id, order, typed, token.lists[typed].rank, outcome)


def main() -> None:
    """Print the table of docs/user-model.md."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tokens", type=int, default=12_000)
    parser.add_argument("--seeds", default="7,11,23")
    parser.add_argument("--folder", type=Path, help="keeps the evaluations there")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        everything = tokens(given.folder or Path(temporary), given.tokens)
        print(f"{len(everything):,} tokens in {len({token.file for token in everything})} files")
        for seed in map(int, given.seeds.split(",")):
            experiment(everything, seed)


if __name__ == "__main__":
    main()
