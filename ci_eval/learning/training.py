"""Trains a ranker on logs: LightGBM's LambdaRank, stopped when it no longer improves on the validation logs."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
from msgspec import Meta
from numpy.typing import NDArray

from ci_eval.catalog import guess
from ci_eval.errors import ConfigError, NothingToEvaluate
from ci_eval.learning.features import CATEGORIES, KIND_NAMES, NAMES, SCHEMA
from ci_eval.learning.logs import tables
from ci_eval.learning.model_file import BothScores, RankerModel, Scores, importance_of, lightgbm
from ci_eval.model import Section

_THREADS = re.compile(r"\[num_threads: \d+\]")

Label = Literal["selected", "expected"]

PATIENCE = 15
"""Trees without improvement on the validation logs after which training ends."""
LONGEST = 200
"""The most suggestions of a lookup that are learned from: the FIRST of the list, and others drawn from the rest."""
FIRST = 50
LEARNING = {
    "objective": "lambdarank",
    "metric": "map",
    "eval_at": [1],
    "learning_rate": 0.1,
    "min_data_in_leaf": 50,
    "max_position": 10,
    "lambdarank_truncation_level": 10,
    "deterministic": True,
    "force_row_wise": True,
    "verbose": -1,
}


class Settings(Section, frozen=True):
    """What `ci-eval train-ranker --set` may say."""

    trees: Annotated[int, Meta(ge=1, le=10_000)] = 100
    """The most trees of a model: 100 suggestions are then ranked in about half a millisecond."""
    leaves: Annotated[int, Meta(ge=2, le=4_096)] = 31
    """The most leaves of a tree."""
    features: tuple[str, ...] = ()
    """The features that it may look at; none given = all."""


USUAL = Settings()


@dataclass(frozen=True)
class LookupRows:
    """The features of all suggestions of many lookups, one lookup after the other.

    Exactly one row of each lookup is positive: that of the expected text.
    """

    rows: NDArray[np.float32]
    """(suggestions of all lookups x features)."""
    sizes: NDArray[np.int64]
    """Number of rows of each lookup."""
    positive: NDArray[np.int64]
    """Index of the positive row of each lookup, from 0 within the lookup."""
    projects: frozenset[str] = frozenset()
    """Names of the projects they are of."""
    names: tuple[str, ...] = NAMES
    """Of the features."""
    categories: tuple[str, ...] = CATEGORIES
    """The features whose values have no order."""
    schema: str = SCHEMA
    """A digest of the features."""
    sessions: tuple[str, ...] = ()
    """The session of each lookup."""

    @property
    def labels(self) -> NDArray[np.int8]:
        """1 for each positive row, 0 for the others."""
        labels = np.zeros(len(self.rows), dtype=np.int8)
        labels[self.begins + self.positive] = 1
        return labels

    @property
    def begins(self) -> NDArray[np.int64]:
        """Index of the first row of each lookup."""
        return np.concatenate([[0], np.cumsum(self.sizes)[:-1]]).astype(np.int64)


def read(paths: Sequence[Path], label: Label, seed: int) -> LookupRows:
    """The lookups of Parquet logs that one can learn from: lists of two or more that offer the expected text.

    `label`: with "selected" only those of sessions in which the user took it, with "expected" all of them. `seed`:
    draws the suggestions of long lists. Raises WorkspaceError, NothingToEvaluate.
    """
    taken = _sessions_with_a_selection(paths) if label == "selected" else None
    lookups = (each for path in paths for each in lookups_in(path))
    return gathered(lookups, label, seed, side=paths[0].stem, taken=taken)


def gathered(
    lookups: Iterable[LoggedLookup], label: Label, seed: int, *, side: str, taken: frozenset[str] | None
) -> LookupRows:
    """Those of the lookups that one can learn from. `side`: what they are called in messages; `taken`: only those of
    these sessions. Raises NothingToEvaluate."""
    random = np.random.default_rng([5, seed % 2**63])
    rows, sizes, positive, sessions, projects = [], [], [], [], set()
    for lookup in lookups:
        projects.add(lookup.project)
        found = np.flatnonzero(lookup.expected)
        if len(lookup.rows) < 2 or len(found) != 1 or (taken is not None and lookup.session not in taken):
            continue
        chosen = _chosen(len(lookup.rows), int(found[0]), random)
        rows.append(lookup.rows[chosen])
        sizes.append(len(chosen))
        positive.append(int(np.flatnonzero(chosen == found[0])[0]))
        sessions.append(lookup.session)
    if not rows:
        raise NothingToEvaluate(_why_none(side, bool(projects), label))
    return LookupRows(
        np.concatenate(rows), np.array(sizes), np.array(positive), frozenset(projects), sessions=tuple(sessions)
    )


def _why_none(side: str, any_lookup: bool, label: Label) -> str:
    if not any_lookup:
        return (
            f"the {side} side of the logs is empty: files are dealt out by interpret.trainTestSplit, so that few files "
            "leave a side without any; log more or larger projects, and give all of them"
        )
    if label == "selected":
        return f"in the {side} side of the logs nobody took the expected text; try --label expected, or log more"
    return f"in the {side} side of the logs the expected text is in no list of two or more; log more"


def _chosen(size: int, positive: int, random: np.random.Generator) -> NDArray[np.int64]:
    """Indices of the suggestions of a list of that size that are learned from, the positive one among them."""
    if size <= LONGEST:
        return np.arange(size)
    rest = random.choice(np.arange(FIRST, size), LONGEST - FIRST, replace=False)
    chosen: NDArray[np.int64] = np.unique(np.concatenate([np.arange(FIRST), rest, [positive]]))
    return chosen


def _sessions_with_a_selection(paths: Sequence[Path]) -> frozenset[str]:
    found: set[str] = set()
    for path in paths:
        for batch in tables().batches(path, ["session", "selected"]):
            taken = np.asarray(batch.column(1))
            found.update(np.asarray(batch.column(0))[taken])
    return frozenset(found)


@dataclass(frozen=True)
class LoggedLookup:
    """One lookup in the logs."""

    project: str
    session: str
    number: int
    """Of the lookup within its session, from 0."""
    expected: NDArray[np.bool_]
    """Of each suggestion, whether it is the expected text."""
    rows: NDArray[np.float32]
    """(suggestions x features)."""


def lookups_in(path: Path) -> Iterator[LoggedLookup]:
    """The lookups in a Parquet file, one at a time."""
    held: list[LoggedLookup] = []
    for batch in tables().batches(path, ["project", "session", "query_number", "place", "expected", *NAMES]):
        rows = np.stack([np.asarray(batch.column(5 + place)) for place in range(len(NAMES))], axis=1)
        expected = np.asarray(batch.column(4))
        # A list begins where the place is 1; the last one of a batch may go on in the next.
        begins = set(np.flatnonzero(np.asarray(batch.column(3)) == 1).tolist())
        for low, high in pairwise(sorted({0, *begins, len(rows)})):
            if low in begins and held:
                yield _joined(held)
                held = []
            project, session, number = (batch.column(each)[low].as_py() for each in range(3))
            held.append(LoggedLookup(project, session, number, expected[low:high], rows[low:high]))
    if held:
        yield _joined(held)


def _joined(held: Sequence[LoggedLookup]) -> LoggedLookup:
    """One lookup, of its parts in the batches it was spread over."""
    if len(held) == 1:
        return held[0]
    expected, rows = (
        np.concatenate(parts) for parts in zip(*((each.expected, each.rows) for each in held), strict=True)
    )
    return LoggedLookup(held[0].project, held[0].session, held[0].number, expected, rows)


def train(
    training: LookupRows,
    validation: LookupRows,
    test: LookupRows | None = None,
    *,
    label: Label,
    seed: int,
    threads: int,
    settings: Settings = USUAL,
) -> RankerModel:
    """A model of as many trees as rank the validation lookups best, judged on those and on the ones for the test; the
    number of threads does not change it. Raises ConfigError where a feature is named that there is not."""
    lgb = lightgbm()
    names = training.names
    unseen = _unseen(names, settings.features)
    shown = _as_shown(validation)
    learned, checked = (_blanked(each.rows, unseen) for each in (training, validation))
    categories = [names.index(name) for name in training.categories]
    data = lgb.Dataset(
        learned, training.labels, group=training.sizes, feature_name=_plain(names), categorical_feature=categories
    )
    check = lgb.Dataset(checked, validation.labels, group=validation.sizes, reference=data)
    booster = lgb.train(
        {**LEARNING, "num_leaves": settings.leaves, "seed": seed % 2**31, "num_threads": threads},
        data,
        settings.trees,
        valid_sets=[check],
        callbacks=[lgb.early_stopping(PATIENCE, verbose=False)],
    )
    trees = booster.best_iteration or booster.num_trees()
    predict = partial(booster.predict, num_iteration=trees, num_threads=threads)
    predicted = predict(checked)
    gains = booster.feature_importance("gain", iteration=trees)
    return RankerModel(
        schema=training.schema,
        features=names,
        trained_on=tuple(sorted(training.projects)),
        queries=len(training.sizes),
        rows=len(training.rows),
        label=label,
        seed=seed,
        trees=trees,
        before=scores(validation, shown),
        after=scores(validation, predicted),
        tested=None
        if test is None
        else BothScores(before=scores(test, _as_shown(test)), after=scores(test, predict(_blanked(test.rows, unseen)))),
        kinds={
            kind: BothScores(before=scores(validation, shown, of), after=scores(validation, predicted, of))
            for kind, of in _kinds(validation).items()
        },
        importance=importance_of(names, [float(gain) for gain in gains]),
        # The number of threads changes no tree, and must not change the digest.
        booster=_THREADS.sub("[num_threads: 0]", booster.model_to_string(num_iteration=trees)),
    )


def _as_shown(lookups: LookupRows) -> NDArray[np.float32]:
    """A score of each row that orders them as they were shown."""
    return -lookups.rows[:, lookups.names.index("position")]


def _unseen(names: Sequence[str], wanted: Sequence[str]) -> list[int]:
    """Places of the features that are not wanted."""
    for name in wanted:
        if name not in names:
            raise ConfigError(f"there is no feature {name!r}{guess(name, names)}; known are {', '.join(names)}")
    return [place for place, name in enumerate(names) if wanted and name not in wanted]


def _blanked(rows: NDArray[np.float32], unseen: Sequence[int]) -> NDArray[np.float32]:
    """A copy in which those features are the same everywhere: no tree splits at them, so that the model may be given
    all features when it ranks."""
    if not unseen:
        return rows
    blanked = rows.copy()
    blanked[:, unseen] = 0
    return blanked


def _plain(names: Sequence[str]) -> list[str]:
    """As LightGBM takes them: ours as they are, those of others by their number where it would refuse one."""
    return [name if name.isidentifier() else f"feature_{number}" for number, name in enumerate(names)]


def _kinds(lookups: LookupRows) -> dict[str, NDArray[np.bool_]]:
    """Kind of the positive row → which lookups are of it, the most frequent first; nothing where the features are not
    ours."""
    if lookups.schema != SCHEMA:
        return {}
    kinds = lookups.rows[lookups.begins + lookups.positive, NAMES.index("kind")]
    found = {name: kinds == number for number, name in enumerate(KIND_NAMES)}
    return {name: of for name, of in sorted(found.items(), key=lambda each: -each[1].sum()) if of.any()}


def scores(
    lookups: LookupRows, predicted: NDArray[np.floating[Any]], of: NDArray[np.bool_] | slice = slice(None)
) -> Scores:
    """How well `predicted`, a score for each row, ranks the positive rows: the higher the score, the better. `of`:
    which of the lookups count."""
    ranks = ranks_of(lookups, predicted)[of]
    return Scores(
        queries=len(ranks),
        top1=float((ranks <= 1).mean()),
        top5=float((ranks <= 5).mean()),
        mrr=float((1 / ranks).mean()),
    )


def ranks_of(lookups: LookupRows, predicted: NDArray[np.floating[Any]]) -> NDArray[np.float64]:
    """The rank of each lookup's positive row; equal scores share the mean of their ranks."""
    begins = lookups.begins
    own = np.repeat(predicted[begins + lookups.positive], lookups.sizes)
    ahead = np.add.reduceat(predicted > own, begins) + (np.add.reduceat(predicted == own, begins) - 1) / 2
    return np.asarray(1 + ahead, dtype=np.float64)
