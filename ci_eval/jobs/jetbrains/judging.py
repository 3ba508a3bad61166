"""The comparison of rankers trained on synthetic logs and on real ones, both tested on real logs that neither has
seen."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from ci_eval.ci import Screen
from ci_eval.core.base.chance import draw
from ci_eval.core.base.errors import NothingToEvaluate
from ci_eval.core.statistics.student import Floats, critical_values
from ci_eval.jobs.jetbrains import event_logs
from ci_eval.jobs.jetbrains.event_logs import EventSessions
from ci_eval.jobs.ml import logs_of_all
from ci_eval.plugins.learning import training
from ci_eval.plugins.learning.events import (
    POSITION,
    FeatureTable,
    ShownSession,
    identity,
    present_features,
    read_sessions,
    training_rows,
)
from ci_eval.plugins.learning.rankers import Scores, lightgbm

STOPPING = 20
"""The percentage of the real logs for training that decides when training on the others is stopped."""


class Difference(msgspec.Struct, frozen=True, kw_only=True):
    value: float
    low: float | None
    """The lower end of the 95 % interval; None with fewer than two clusters."""
    high: float | None
    clusters: int
    """The number of users, or of sessions if there are few users."""


class Judged(Scores, frozen=True, kw_only=True):
    """The scores of a ranker with the mean rank, as the thesis reports it."""

    mean_rank: float


class Rankers(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    features: tuple[str, ...]
    shown: Judged
    synthetic: Judged
    real: Judged
    lists: int
    difference: Difference
    top1: Difference


def read_event_sessions(source: Path, seed: int, screen: Screen) -> EventSessions:
    """Return the sessions of logs of events, of recorded editing, or of tables. Raises WorkspaceError, ConfigError,
    NothingToEvaluate."""
    if events := event_logs.read([source], seed, screen):
        return events
    folders = logs_of_all([source])
    train, validation = (
        [session for folder in folders for session in read_sessions(folder / f"{side}.parquet")]
        for side in ("train", "validation")
    )
    if not (train or validation):
        raise NothingToEvaluate(f"{source} has logs without a session")
    return EventSessions(projects=source.name, train=train, validation=validation)


def compare_logs(made: EventSessions, seen: EventSessions, label: training.Label, seed: int, threads: int) -> Rankers:
    """Train a ranker on each log. Return their scores on the real logs for validation, which neither training knew.
    Raises NothingToEvaluate."""
    common = present_features(made.train) & present_features(seen.train)
    if common <= {POSITION}:
        raise NothingToEvaluate("the logs have no feature in common: log both with the same program")
    table = FeatureTable.of(chain(made.train, seen.train), only=common)
    # Early stopping must not look at the held-out logs, so it gets a part of the logs for training.
    stopping = [draw(seed, f"stop {session.user}\0{session.session}") * 100 < STOPPING for session in seen.train]
    learned = [session for session, is_it in zip(seen.train, stopping, strict=True) if not is_it]
    checked = [session for session, is_it in zip(seen.train, stopping, strict=True) if is_it]
    rows = {
        name: training_rows(sessions, table, label, seed, side=name, project=name)
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
        _predict(rows[train], rows[stop], test, label, seed, threads)
        for train, stop in (("synthetic training", "synthetic validation"), ("real training", "real stopping"))
    )
    ranks = [training.rank_positives(test, predicted) for predicted in (of_made, of_seen)]
    return Rankers(
        features=table.names,
        # The first position is the best, and a higher prediction ranks first.
        shown=_judge(test, -test.rows[:, table.names.index(POSITION)]),
        synthetic=_judge(test, of_made),
        real=_judge(test, of_seen),
        lists=len(rows["synthetic training"].sizes),
        difference=_difference(test, 1 / ranks[1] - 1 / ranks[0], seen.validation),
        top1=_difference(test, (ranks[1] <= 1) - 1.0 * (ranks[0] <= 1), seen.validation),
    )


def _judge(test: training.LookupRows, predicted: NDArray[np.floating[Any]]) -> Judged:
    ranks = training.rank_positives(test, predicted)
    return Judged(**msgspec.structs.asdict(training.scores(test, predicted)), mean_rank=float(ranks.mean()))


def _predict(
    learned: training.LookupRows,
    checked: training.LookupRows,
    test: training.LookupRows,
    label: training.Label,
    seed: int,
    threads: int,
) -> Floats:
    model = training.train(learned, checked, label=label, seed=seed, threads=threads)
    booster = lightgbm().Booster(model_str=model.booster)
    return np.asarray(booster.predict(test.rows, num_threads=threads))


def _difference(test: training.LookupRows, gains: Floats, sessions: Sequence[ShownSession]) -> Difference:
    """Return the mean of `gains`, one for each list, with its interval. Lists of one user, or session, are sampled
    together."""
    users = {identity(session): session.user for session in sessions}
    by_user = len(set(users.values())) >= event_logs.ENOUGH_USERS
    sums: dict[str, float] = {}
    mean = float(gains.mean())
    for session, gain in zip(test.sessions, gains, strict=True):
        cluster = users[session] if by_user else session
        sums[cluster] = sums.get(cluster, 0.0) + float(gain) - mean
    count = len(sums)
    # One cluster has no variance.
    if count < 2:
        return Difference(value=mean, low=None, high=None, clusters=count)
    # This is the cluster-robust error of a mean, with the correction for few clusters.
    error = (sum(total**2 for total in sums.values()) * count / (count - 1)) ** 0.5 / len(gains)
    reach = float(critical_values(0.05, count - 1)) * error
    return Difference(value=mean, low=mean - reach, high=mean + reach, clusters=count)
