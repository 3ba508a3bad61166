"""The training of a ranker on logs with LightGBM's LambdaRank, and the fitting of a user model to logs."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import partial
from itertools import chain, pairwise
from pathlib import Path
from typing import Annotated, Any, Literal

import msgspec
import numpy as np
from msgspec import Meta
from numpy.typing import NDArray

from ci_eval.core.base.catalog import guess
from ci_eval.core.base.errors import ConfigError, NothingToEvaluate
from ci_eval.core.logs import tables
from ci_eval.core.logs.features import CATEGORIES, KIND_NAMES, NAMES, SCHEMA
from ci_eval.core.model import Section
from ci_eval.core.user_model import UserModel
from ci_eval.plugins.learning.rankers import BothScores, RankerModel, Scores, gain_shares, lightgbm

_THREADS = re.compile(r"\[num_threads: \d+\]")

Label = Literal["selected", "expected"]

PATIENCE_TREES = 15
"""Training ends after this many trees without an improvement on the validation logs."""
MOST_ROWS = 200
"""Longer lists are sampled: training uses their first FIRST suggestions, and a random sample of the others."""
FIRST = 50
LEARNING = {
    "objective": "lambdarank",
    "metric": "map",
    "eval_at": [1],
    "learning_rate": 0.1,
    "min_data_in_leaf": 50,
    "max_position": 10,
    "lambdarank_truncation_level": 10,
    # LightGBM's documentation asks for a fixed layout (`force_row_wise`) along with `deterministic`.
    "deterministic": True,
    "force_row_wise": True,
    "verbose": -1,
}


class Settings(Section, frozen=True):
    """Keys of `ci-eval train-ranker --set`."""

    trees: Annotated[int, Meta(ge=1, le=10_000)] = 100
    """The most trees. With 100, 100 suggestions are ranked in about half a millisecond."""
    leaves: Annotated[int, Meta(ge=2, le=4_096)] = 31
    features: tuple[str, ...] = ()
    """Features that the ranker may use; empty means all."""


USUAL = Settings()


class LookupRows(msgspec.Struct, frozen=True):
    rows: NDArray[np.float32]
    """Features, of shape (suggestions of all lookups, features). In each lookup, exactly one row is positive."""
    sizes: NDArray[np.int64]
    positive: NDArray[np.int64]
    """The index of the positive row within each lookup, from 0."""
    projects: frozenset[str] = frozenset()
    names: tuple[str, ...] = NAMES
    categories: tuple[str, ...] = CATEGORIES
    """Features whose values have no order."""
    schema: str = SCHEMA

    @property
    def labels(self) -> NDArray[np.int8]:
        labels = np.zeros(len(self.rows), dtype=np.int8)
        labels[self.begins + self.positive] = 1
        return labels

    @property
    def begins(self) -> NDArray[np.int64]:
        return np.concatenate([[0], np.cumsum(self.sizes)[:-1]]).astype(np.int64)


def read(paths: Sequence[Path], label: Label, seed: int) -> LookupRows:
    """Return the lookups with the expected text and another suggestion; with the label "selected", only those of
    sessions in which the user took the text. `seed` samples long lists. Raises WorkspaceError, NothingToEvaluate."""
    taken: set[str] | None = None
    if label == "selected":
        taken = set()
        for batch in (batch for path in paths for batch in tables().batches(path, ["session", "selected"])):
            taken.update(np.asarray(batch.column(0))[np.asarray(batch.column(1))])
    lookups = chain.from_iterable(map(read_lookups, paths))
    return select_lookups(lookups, label, seed, side=paths[0].stem, taken=taken)


def select_lookups(
    lookups: Iterable[LoggedLookup], label: Label, seed: int, *, side: str, taken: Collection[str] | None
) -> LookupRows:
    """Return the lookups to learn from. `taken`: the only sessions to use; None for all. `side`: the name of the data
    in messages. Raises NothingToEvaluate."""
    random = np.random.default_rng([5, seed % 2**63])
    rows, sizes, positive, projects = [], [], [], set()
    for lookup in lookups:
        projects.add(lookup.project)
        expected = np.flatnonzero(lookup.expected)
        # Training compares rows within a list, so a list must have two rows, and one of them must be the expected one.
        if len(lookup.rows) < 2 or len(expected) != 1 or (taken is not None and lookup.session not in taken):
            continue
        chosen = np.arange(len(lookup.rows))
        if len(chosen) > MOST_ROWS:
            further = random.choice(chosen[FIRST:], MOST_ROWS - FIRST, replace=False)
            # The positive row may be among the chosen ones already.
            chosen = np.unique(np.concatenate([chosen[:FIRST], further, expected]))
        rows.append(lookup.rows[chosen])
        sizes.append(len(chosen))
        positive.append(int(np.flatnonzero(chosen == expected[0])[0]))
    if not projects:
        raise NothingToEvaluate(
            f"the {side} side of the logs is empty: `interpret.trainTestSplit` puts each file on one side, so a "
            "side may be empty if there are few files; log more or larger projects, and give all logs"
        )
    if not rows:
        of_selected = "no user took the expected text; try --label expected, or log more"
        of_all = "the expected text is in no list of two or more; log more"
        raise NothingToEvaluate(f"in the {side} side of the logs {of_selected if label == 'selected' else of_all}")
    return LookupRows(np.concatenate(rows), np.array(sizes), np.array(positive), frozenset(projects))


class LoggedLookup(msgspec.Struct, frozen=True):
    project: str
    session: str
    number: int
    """The lookup's position in its session, from 0."""
    expected: NDArray[np.bool_]
    rows: NDArray[np.float32]
    """Features, of shape (suggestions, features)."""
    typed: int = 0
    """The length of the prefix."""
    outcome: str = ""


def read_lookups(path: Path) -> Iterator[LoggedLookup]:
    """Yield the lookups of a Parquet file in order. Raises WorkspaceError."""
    last: LoggedLookup | None = None
    columns = ["place", "expected", "project", "session", "query_number", "prefix", "outcome"]
    for batch in tables().batches(path, [*columns, *NAMES]):
        all_rows = np.stack([np.asarray(column) for column in batch.columns[-len(NAMES) :]], axis=1)
        # A list begins with place 1. The last list of a batch may continue in the next batch.
        begins = set(np.flatnonzero(np.asarray(batch.column(0)) == 1).tolist())
        for low, high in pairwise(sorted({0, *begins, len(all_rows)})):
            expected, rows = np.asarray(batch.column(1))[low:high], all_rows[low:high]
            project, session, number, prefix, outcome = (batch.column(place)[low].as_py() for place in range(2, 7))
            if last and low not in begins:
                expected, rows = np.concatenate([last.expected, expected]), np.concatenate([last.rows, rows])
            elif last:
                yield last
            last = LoggedLookup(project, session, number, expected, rows, len(prefix), outcome)
    if last:
        yield last


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
    """Train a ranker. Keep the number of trees with the best validation scores. `threads` does not change the result.
    Raises ConfigError if the settings name an unknown feature."""
    lgb = lightgbm()
    names = training.names
    for name in settings.features:
        if name not in names:
            raise ConfigError(f"there is no feature {name!r}{guess(name, names)}; known are {', '.join(names)}")
    unseen = [at for at, name in enumerate(names) if settings.features and name not in settings.features]
    learned, checked = (_blank_columns(lookups.rows, unseen) for lookups in (training, validation))
    categories = [names.index(name) for name in training.categories]
    # LightGBM accepts only names that are identifiers.
    plain = [name if name.isidentifier() else f"feature_{number}" for number, name in enumerate(names)]
    data = lgb.Dataset(
        learned, training.labels, group=training.sizes, feature_name=plain, categorical_feature=categories
    )
    check = lgb.Dataset(checked, validation.labels, group=validation.sizes, reference=data)
    booster = lgb.train(
        # LightGBM's seeds have 31 bits.
        {**LEARNING, "num_leaves": settings.leaves, "seed": seed % 2**31, "num_threads": threads},
        data,
        settings.trees,
        valid_sets=[check],
        callbacks=[lgb.early_stopping(PATIENCE_TREES, verbose=False)],
    )
    trees = booster.best_iteration or booster.num_trees()
    predict = partial(booster.predict, num_iteration=trees, num_threads=threads)
    predicted = predict(checked)
    gains = booster.feature_importance("gain", iteration=trees)
    figures = _both_scores(validation, predicted)
    return RankerModel(
        schema=training.schema,
        features=names,
        trained_on=tuple(sorted(training.projects)),
        queries=len(training.sizes),
        rows=len(training.rows),
        label=label,
        seed=seed,
        trees=trees,
        before=figures.before,
        after=figures.after,
        tested=None if test is None else _both_scores(test, predict(_blank_columns(test.rows, unseen))),
        kinds={kind: _both_scores(validation, predicted, of) for kind, of in _kinds(validation).items()},
        importance=gain_shares(names, [float(gain) for gain in gains]),
        # The number of threads does not change the trees, so it must not change the digest.
        booster=_THREADS.sub("[num_threads: 0]", booster.model_to_string(num_iteration=trees)),
    )


def _both_scores(
    lookups: LookupRows, predicted: NDArray[np.floating[Any]], of: NDArray[np.bool_] | slice = slice(None)
) -> BothScores:
    shown = -lookups.rows[:, lookups.names.index("position")]
    return BothScores(before=scores(lookups, shown, of), after=scores(lookups, predicted, of))


def _blank_columns(rows: NDArray[np.float32], unseen: Sequence[int]) -> NDArray[np.float32]:
    # The columns are kept, so the ranker still accepts all features. Trees never split on a constant feature.
    blanked = rows.copy() if unseen else rows
    blanked[:, unseen] = 0
    return blanked


def _kinds(lookups: LookupRows) -> dict[str, NDArray[np.bool_]]:
    """Return kind → mask of its lookups, most frequent kind first. Return {} if the logs lack ci-eval's features."""
    if lookups.schema != SCHEMA:
        return {}
    kinds = lookups.rows[lookups.begins + lookups.positive, NAMES.index("kind")]
    masks = {name: kinds == number for number, name in enumerate(KIND_NAMES)}
    return {name: of for name, of in sorted(masks.items(), key=lambda named_mask: -named_mask[1].sum()) if of.any()}


def scores(
    lookups: LookupRows, predicted: NDArray[np.floating[Any]], of: NDArray[np.bool_] | slice = slice(None)
) -> Scores:
    """Return the scores of a ranking. `predicted`: a score for each row. `of`: the lookups to count."""
    begins = lookups.begins
    own = np.repeat(predicted[begins + lookups.positive], lookups.sizes)
    # Equal rows share the mean of their ranks.
    ahead = np.add.reduceat(predicted > own, begins) + (np.add.reduceat(predicted == own, begins) - 1) / 2
    ranks = np.asarray(1 + ahead, dtype=np.float64)[of]
    return Scores(
        queries=len(ranks),
        top1=float((ranks <= 1).mean()),
        top5=float((ranks <= 5).mean()),
        mrr=float((1 / ranks).mean()),
    )


RANKS = 6
"""The number of rows of the user model's table: one per rank. The last row is for all further ranks."""
LOOKUPS = 5
"""The number of columns: one per lookup of a session. The last column is for all further lookups."""


class ShownList(msgspec.Struct, frozen=True):
    session: str
    number: int
    typed: int
    """The length of the prefix."""
    rank: int | None
    """The rank of the expected text, or None if the list does not contain it."""
    outcome: str
    """`selected`, `cancelled` or `typed` (the user went on typing)."""


class Fitted(msgspec.Struct, frozen=True, kw_only=True):
    model: UserModel
    sessions: int
    queries: int
    shown: tuple[int, ...]
    """How often the expected text had each rank from 1 to RANKS. The last number includes all further ranks."""


def read_lists(path: Path) -> Iterator[ShownList]:
    for lookup in read_lookups(path):
        rank = next((int(place) + 1 for place in np.flatnonzero(lookup.expected)), None)
        yield ShownList(lookup.session, lookup.number, lookup.typed, rank, lookup.outcome)


def fit_user(lists: Sequence[ShownList]) -> Fitted:
    """Return the user model with the maximum-likelihood probabilities, smoothed for small counts.

    The first prefix has each length as often as in the sessions. The user takes the expected text with probability
    (taken + 1)/(shown + 4), by rank and number of the lookup, and gives up with probability (given up + 1/2)/(not taken
    + 10), by number of the lookup. All ranks above 6 count as 6, and all lookups after the fifth as the fifth.
    """
    firsts: dict[str, ShownList] = {}
    shown: Counter[tuple[int, int]] = Counter()
    taken: Counter[tuple[int, int]] = Counter()
    passed: Counter[int] = Counter()
    given_up: Counter[int] = Counter()
    for lookup in lists:
        if lookup.session not in firsts or lookup.number < firsts[lookup.session].number:
            firsts[lookup.session] = lookup
        number = min(lookup.number, LOOKUPS - 1)
        if lookup.rank is not None:
            key = min(lookup.rank, RANKS) - 1, number
            shown[key] += 1
            taken[key] += lookup.outcome == "selected"
        if lookup.outcome != "selected":
            passed[number] += 1
            given_up[number] += lookup.outcome == "cancelled"
    lengths = Counter(lookup.typed for lookup in firsts.values())
    return Fitted(
        model=UserModel(
            first_prefix=tuple(lengths[typed] / len(firsts) for typed in range(max(lengths) + 1)),
            select=tuple(
                tuple((taken[row, number] + 1) / (shown[row, number] + 4) for number in range(LOOKUPS))
                for row in range(RANKS)
            ),
            cancel=tuple((given_up[number] + 0.5) / (passed[number] + 10) for number in range(LOOKUPS)),
        ),
        sessions=len(firsts),
        queries=len(lists),
        shown=tuple(sum(shown[row, number] for number in range(LOOKUPS)) for row in range(RANKS)),
    )
