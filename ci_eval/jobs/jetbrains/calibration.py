"""The job `logs calibrate`: it finds settings with which synthetic logs train as good a ranker as logs of users.

The procedure is that of the thesis, section 4.2. A ranker is trained on one group of real logs, and its Top-1 is
measured on the other group. Settings are tried until the Top-1 of a ranker from synthetic logs differs from it by no
more than a threshold.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
from msgspec.structs import replace
from numpy.typing import NDArray

from ci_eval.ci import Screen
from ci_eval.core.base import atomic
from ci_eval.core.base.chance import draw
from ci_eval.core.base.errors import ConfigError, GateFailed, NothingToEvaluate
from ci_eval.core.config import Config, parse_yaml
from ci_eval.core.statistics.student import Floats, critical_values
from ci_eval.jobs import ml
from ci_eval.jobs.evaluate import only_logs
from ci_eval.jobs.jetbrains import event_logs
from ci_eval.jobs.jetbrains.event_logs import EventSessions
from ci_eval.jobs.ml import logs_of_all, summing_to_one
from ci_eval.plugins.learning import events, training
from ci_eval.plugins.learning.events import ShownSession
from ci_eval.plugins.learning.rankers import Scores, lightgbm

STOPPING = 20
"""The percentage of the real logs for training that decides when training on the others stops."""


class Difference(msgspec.Struct, frozen=True, kw_only=True):
    value: float
    low: float | None
    """The lower end of the 95 % interval; None with fewer than two clusters."""
    high: float | None
    clusters: int


class Judged(Scores, frozen=True, kw_only=True):
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
    """Return the sessions of logs in any format. Raises WorkspaceError, ConfigError, NothingToEvaluate."""
    if sessions := event_logs.read([source], seed, screen):
        return sessions
    folders = logs_of_all([source])
    train, validation = (
        [session for folder in folders for session in events.read_sessions(folder / f"{side}.parquet")]
        for side in ("train", "validation")
    )
    if not (train or validation):
        raise NothingToEvaluate(f"{source} has logs without a session")
    return EventSessions(projects=source.name, train=train, validation=validation)


def compare_logs(made: EventSessions, seen: EventSessions, label: training.Label, seed: int, threads: int) -> Rankers:
    """Train a ranker on synthetic logs and one on real logs, and score both on the real logs for validation. Raises
    NothingToEvaluate."""
    common = events.present_features(made.train) & events.present_features(seen.train)
    if common <= {events.POSITION}:
        raise NothingToEvaluate("the logs have no feature in common: log both with the same program")
    table = events.FeatureTable.of(chain(made.train, seen.train), only=common)
    # Early stopping must not see the held-out logs, so it gets a part of the logs for training.
    learned, checked = list[ShownSession](), list[ShownSession]()
    for session in seen.train:
        is_for_stopping = draw(seed, f"stop {session.user}\0{session.session}") * 100 < STOPPING
        (checked if is_for_stopping else learned).append(session)
    rows = {
        name: events.training_rows(sessions, table, label, seed, side=name, project=name)
        for name, sessions in (
            ("synthetic training", made.train),
            ("synthetic validation", made.validation),
            ("real training", learned),
            ("real stopping", checked),
            ("real held-out", seen.validation),
        )
    }
    test = rows["real held-out"]
    predictions = []
    for train, stop in (("synthetic training", "synthetic validation"), ("real training", "real stopping")):
        model = training.train(rows[train], rows[stop], label=label, seed=seed, threads=threads)
        booster = lightgbm().Booster(model_str=model.booster)
        predictions.append(np.asarray(booster.predict(test.rows, num_threads=threads)))
    of_made, of_seen = predictions
    ranks = [training.rank_positives(test, predicted) for predicted in (of_made, of_seen)]
    return Rankers(
        features=table.names,
        # The first position is the best, and a higher prediction ranks first.
        shown=_judge(test, -test.rows[:, table.names.index(events.POSITION)]),
        synthetic=_judge(test, of_made),
        real=_judge(test, of_seen),
        lists=len(rows["synthetic training"].sizes),
        difference=_difference(test, 1 / ranks[1] - 1 / ranks[0], seen.validation),
        top1=_difference(test, (ranks[1] <= 1) - 1.0 * (ranks[0] <= 1), seen.validation),
    )


def _judge(test: training.LookupRows, predicted: NDArray[np.floating[Any]]) -> Judged:
    ranks = training.rank_positives(test, predicted)
    return Judged(**msgspec.structs.asdict(training.scores(test, predicted)), mean_rank=float(ranks.mean()))


def _difference(test: training.LookupRows, gains: Floats, sessions: Sequence[ShownSession]) -> Difference:
    users = {events.identity(session): session.user for session in sessions}
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


THRESHOLD = 0.01
KINDS = "actions.strategy.filters.statementTypes="
USER = "interpret.userModel="


Setting = tuple[str, tuple[str, ...]]
"""A name, and keys of the configuration with their values."""


class Attempt(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    name: str
    workspace: str
    overrides: tuple[str, ...]
    sessions: int
    rankers: Rankers
    close: bool


class Calibration(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    threshold: float
    first_group: int
    second_group: int
    attempts: tuple[Attempt, ...]
    chosen: str | None

    @property
    def trouble(self) -> GateFailed | None:
        if self.chosen:
            return None
        nearest = min(self.attempts, key=lambda attempt: abs(attempt.rankers.top1.value))
        return GateFailed(
            f"no setting is within {self.threshold:.1%} of the real logs; the nearest is {nearest.name!r} "
            f"({-nearest.rankers.top1.value:+.1%}): try others with --try, or more code with --project"
        )


def calibrate(
    configured: Callable[[Sequence[str]], Config],
    real: Path,
    *,
    own: Sequence[Path],
    threshold: float,
    every: bool,
    label: training.Label,
    output: Path,
    jobs: int,
    resume: bool,
    screen: Screen,
) -> Calibration:
    """Try the settings in the files `own`, or the known ones, until one is close enough; with `every`, try all.

    `resume`: continue with existing files. Raises ConfigError, WorkspaceError, PreparationError, NothingToEvaluate,
    EngineFailure.
    """
    if not resume:
        atomic.empty_folder(output)
    seed = configured(()).interpret.seed
    seen = read_event_sessions(real, seed, screen)
    screen.say(f"Real logs: {len(seen.train):,} sessions in the first group, {len(seen.validation):,} in the second")
    settings = [_read_setting(path) for path in own] or list(known(seen))
    calibration = Calibration(
        threshold=threshold, first_group=len(seen.train), second_group=len(seen.validation), attempts=(), chosen=None
    )
    for number, (name, overrides) in enumerate(settings, 1):
        screen.say(f"Setting {number} of {len(settings)}: {name}")
        slug = re.sub(r"[^A-Za-z0-9]+", "-", name).strip("-").lower()
        folder = output / "settings" / f"{number}-{slug}"
        logging_config = ml.for_logs(configured(overrides), (), screen)
        workspace, trouble = only_logs(
            logging_config, output=folder, jobs=jobs, resume=resume, shard=None, screen=screen
        )
        if trouble:
            raise trouble
        made = read_event_sessions(workspace.folder, logging_config.interpret.seed, screen)
        rankers = compare_logs(made, seen, label, seed, jobs)
        attempt = Attempt(
            name=name,
            workspace=folder.relative_to(output).as_posix(),
            overrides=overrides,
            sessions=len(made.train),
            rankers=rankers,
            close=abs(rankers.top1.value) <= threshold,
        )
        chosen = calibration.chosen or (name if attempt.close else None)
        calibration = replace(calibration, attempts=(*calibration.attempts, attempt), chosen=chosen)
        # Written after each setting, so that an interrupted job leaves its attempts.
        atomic.write_json(output / "calibration.json", calibration)
        if calibration.chosen and not every:
            break
    return calibration


def known(seen: EventSessions) -> Iterator[Setting]:
    """Yield the settings in table 2 of the thesis, with a user model of the first group; then those of
    docs/results/ml.md."""
    # `null` removes a filter that the configuration may have.
    everything = f"{KINDS}null"
    lists = list(events.make_lists(seen.train))
    yield "names, nothing typed", (f"{KINDS}[METHOD_CALL, FIELD, VARIABLE]", _single_list_user(0))
    yield "all tokens, nothing typed", (everything, _single_list_user(0))
    if not lists:
        raise NothingToEvaluate("the first group of the real logs has no list: give more logs")
    model = training.fit_user(lists).model
    fitted = {
        "profile": "thesis",
        # A configuration whose first prefixes do not sum to 1 is refused.
        "firstPrefix": summing_to_one(model.first_prefix),
        "select": [[round(probability, 4) for probability in row] for row in model.select],
        "cancel": [round(probability, 4) for probability in model.cancel],
        "attend": 1.0,
    }
    user = msgspec.json.encode(fitted).decode()
    yield "all tokens, user fitted to the first group", (everything, USER + user)
    yield "all tokens, one letter typed", (everything, _single_list_user(1))
    for profile in ("calibrated", "thesis"):
        yield f"all tokens, user {profile}", (everything, USER + profile)


def _single_list_user(typed: int) -> str:
    """Return the key of a user who sees one list, after `typed` letters, and takes the text if the list has it."""
    return f"{USER}{{profile: always, firstPrefix: {[0] * typed + [1]}, cancel: [1]}}"


def _read_setting(path: Path) -> Setting:
    """Read a setting from a YAML file with keys of the configuration, as `fit-user-model` prints. Raises
    ConfigError."""
    if not path.is_file():
        raise ConfigError(f"{path} is not there: --try takes a YAML file with the keys to change")
    raw = parse_yaml(path.read_text("utf-8"), str(path))
    if not isinstance(raw, dict) or not raw:
        raise ConfigError(f"{path} has no keys of a configuration")
    return path.stem, tuple(_overrides(raw))


def _overrides(raw: dict[str, object], above: str = "") -> Iterator[str]:
    for key, value in raw.items():
        # A user model replaces the configured one as a whole.
        if isinstance(value, dict) and key != "userModel":
            yield from _overrides(value, f"{above}{key}.")
        else:
            yield f"{above}{key}={msgspec.json.encode(value).decode()}"
