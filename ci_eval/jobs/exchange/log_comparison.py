"""The job `logs compare`: whether synthetic logs are like real ones, and whether they train as good a ranker."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from itertools import chain
from pathlib import Path

import msgspec
import numpy as np

from ci_eval import atomic
from ci_eval.chance import draw
from ci_eval.ci import Screen
from ci_eval.errors import NothingToEvaluate
from ci_eval.jobs.exchange import event_logs
from ci_eval.jobs.exchange.event_logs import EventSessions
from ci_eval.jobs.ml import logs_of_all
from ci_eval.learning import training
from ci_eval.learning.event_training import identity, rows_of
from ci_eval.learning.logs.event_rows import POSITION, FeatureTable, kinds_of, told_in
from ci_eval.learning.logs.events import ShownSession
from ci_eval.learning.logs.shown_tables import sessions_in
from ci_eval.learning.model_file import Scores, lightgbm
from ci_eval.statistics.contingency import ChiSquare, chi_square, total_variation
from ci_eval.statistics.student import errors_at

STOPPING = 20
"""Percent of the real logs for training by which training on the others is stopped."""


class Distribution(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """How often each category is in both logs."""

    name: str
    synthetic: dict[str, int]
    real: dict[str, int]
    total_variation: float | None
    """From 0 (the same) to 1; None where one of them does not tell."""
    chi_square: ChiSquare | None


class Difference(msgspec.Struct, frozen=True, kw_only=True):
    """Mean reciprocal rank of the ranker of real logs, minus that of the other one's."""

    value: float
    low: float | None
    """The 95 % interval; None with fewer than two clusters."""
    high: float | None
    clusters: int
    """Users, or sessions where there are few users."""


class Rankers(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """How well each order ranks what users took in the held-out real logs."""

    features: tuple[str, ...]
    shown: Scores
    synthetic: Scores
    real: Scores
    difference: Difference


class LogComparison(msgspec.Struct, frozen=True, kw_only=True):
    """What the job found."""

    synthetic: int
    """Sessions."""
    real: int
    distributions: tuple[Distribution, ...]
    rankers: Rankers | None
    """None where none could be trained."""


def compare(
    synthetic: Path, real: Path, *, label: training.Label, seed: int, threads: int, output: Path | None, screen: Screen
) -> LogComparison:
    """Compare two logs; `output`: a file that gets the result as JSON. Raises WorkspaceError, ConfigError,
    NothingToEvaluate."""
    made, seen = (_sessions(each, seed, screen) for each in (synthetic, real))
    whole = [[*each.train, *each.validation] for each in (made, seen)]
    try:
        rankers = _rankers(made, seen, label, seed, threads)
    except NothingToEvaluate as error:
        screen.warn(f"no rankers are compared: {error}")
        rankers = None
    found = LogComparison(
        synthetic=len(whole[0]),
        real=len(whole[1]),
        distributions=tuple(_distribution(name, of, *whole) for name, of in ASPECTS.items()),
        rankers=rankers,
    )
    if output:
        atomic.write(output, msgspec.json.format(msgspec.json.encode(found), indent=2) + b"\n")
    return found


def _sessions(source: Path, seed: int, screen: Screen) -> EventSessions:
    if events := event_logs.read([source], seed, screen):
        return events
    folders = logs_of_all([source])
    train, validation = (
        [each for folder in folders for each in sessions_in(folder / f"{side}.parquet")]
        for side in ("train", "validation")
    )
    if not (train or validation):
        raise NothingToEvaluate(f"{source} has logs without a session")
    return EventSessions(projects=source.name, train=train, validation=validation)


# ------------------------------------------------------------------------------------------------- distributions


def _first_prefix(sessions: Sequence[ShownSession]) -> Iterable[str]:
    return (_up_to(each.lookups[0].typed, 10) for each in sessions)


def _positions(sessions: Sequence[ShownSession]) -> Iterable[str]:
    told = [each for each in sessions if each.wanted is not None]
    return (_place(each.rank(each.lookups[-1])) for each in told)


def _place(rank: int | None) -> str:
    if rank is None:
        return "absent"
    return str(rank) if rank <= 5 else "6-10" if rank <= 10 else "11+"


def _up_to(count: int, most: int) -> str:
    return str(count) if count < most else f"{most}+"


KIND = "kind of what was taken or typed"
ASPECTS: dict[str, Callable[[Sequence[ShownSession]], Iterable[str]]] = {
    "characters typed at the first list": _first_prefix,
    "lists in a session": lambda sessions: (_up_to(len(each.lookups), 10) for each in sessions),
    "place of what was taken or typed": _positions,
    "outcome": lambda sessions: (each.outcome for each in sessions),
    KIND: lambda sessions: kinds_of(sessions),
}


def _distribution(
    name: str,
    of: Callable[[Sequence[ShownSession]], Iterable[str]],
    made: Sequence[ShownSession],
    seen: Sequence[ShownSession],
) -> Distribution:
    counts = [dict(sorted(Counter(of(each)).items())) for each in (made, seen)]
    # Kinds in the words of two programs say nothing about each other.
    alike = name != KIND or bool(counts[0].keys() & counts[1].keys())
    return Distribution(
        name=name,
        synthetic=counts[0],
        real=counts[1],
        total_variation=total_variation(*counts) if alike else None,
        chi_square=chi_square(*counts) if alike else None,
    )


# ------------------------------------------------------------------------------------------------------- rankers


def _rankers(made: EventSessions, seen: EventSessions, label: training.Label, seed: int, threads: int) -> Rankers:
    """Train on each; judge on the real logs for validation, of which neither training knew."""
    table = _common(made.train, seen.train)
    stopping = [draw(seed, f"stop {each.user}\0{each.session}") * 100 < STOPPING for each in seen.train]
    learned = [each for each, is_it in zip(seen.train, stopping, strict=True) if not is_it]
    checked = [each for each, is_it in zip(seen.train, stopping, strict=True) if is_it]
    rows = {
        name: rows_of(sessions, table, label, seed, side=name, project=name)
        for name, sessions in (
            ("synthetic training", made.train),
            ("synthetic validation", made.validation),
            ("real training", learned),
            ("real stopping", checked),
            ("real held-out", seen.validation),
        )
    }
    test = rows["real held-out"]
    of_made, of_seen = (
        _predicted(rows[train], rows[stop], test, label, seed, threads)
        for train, stop in (("synthetic training", "synthetic validation"), ("real training", "real stopping"))
    )
    return Rankers(
        features=table.names,
        shown=training.scores(test, -test.rows[:, table.names.index(POSITION)]),
        synthetic=training.scores(test, of_made),
        real=training.scores(test, of_seen),
        difference=_difference(test, of_made, of_seen, seen.validation),
    )


def _common(made: Sequence[ShownSession], seen: Sequence[ShownSession]) -> FeatureTable:
    common = told_in(made) & told_in(seen)
    if common <= {POSITION}:
        raise NothingToEvaluate("the logs have no feature in common: log both with the same program")
    return FeatureTable.of(chain(made, seen), only=common)


def _predicted(
    learned: training.LookupRows,
    checked: training.LookupRows,
    test: training.LookupRows,
    label: training.Label,
    seed: int,
    threads: int,
) -> np.ndarray:
    model = training.train(learned, checked, label=label, seed=seed, threads=threads)
    booster = lightgbm().Booster(model_str=model.booster)
    return np.asarray(booster.predict(test.rows, num_threads=threads))


def _difference(
    test: training.LookupRows, made: np.ndarray, seen: np.ndarray, sessions: Sequence[ShownSession]
) -> Difference:
    users = {identity(each): each.user for each in sessions}
    by_user = len(set(users.values())) >= event_logs.ENOUGH_USERS
    gains = 1 / training.ranks_of(test, seen) - 1 / training.ranks_of(test, made)
    sums: dict[str, float] = {}
    mean = float(gains.mean())
    for session, gain in zip(test.sessions, gains, strict=True):
        cluster = users[session] if by_user else session
        sums[cluster] = sums.get(cluster, 0.0) + float(gain) - mean
    count = len(sums)
    if count < 2:
        return Difference(value=mean, low=None, high=None, clusters=count)
    error = (sum(each**2 for each in sums.values()) * count / (count - 1)) ** 0.5 / len(gains)
    reach = float(errors_at(0.05, count - 1)) * error
    return Difference(value=mean, low=mean - reach, high=mean + reach, clusters=count)
