"""The training of a ranker on logs by LightGBM's LambdaRank, and the fit of a user model to logs."""

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
"""Trees without improvement on the validation logs before training ends."""
MOST_ROWS = 200
"""The most suggestions of a lookup that are learnt from: the FIRST of the list, and a sample of the others."""
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
    """(suggestions of all lookups x features); exactly one row of each lookup is positive."""
    sizes: NDArray[np.int64]
    positive: NDArray[np.int64]
    """Index of the positive row of each lookup, from 0 within the lookup."""
    projects: frozenset[str] = frozenset()
    names: tuple[str, ...] = NAMES
    categories: tuple[str, ...] = CATEGORIES
    """Features whose values have no order."""
    schema: str = SCHEMA
    sessions: tuple[str, ...] = ()

    @property
    def labels(self) -> NDArray[np.int8]:
        """Return 1 for each positive row, and 0 for the others."""
        labels = np.zeros(len(self.rows), dtype=np.int8)
        labels[self.begins + self.positive] = 1
        return labels

    @property
    def begins(self) -> NDArray[np.int64]:
        return np.concatenate([[0], np.cumsum(self.sizes)[:-1]]).astype(np.int64)


def read(paths: Sequence[Path], label: Label, seed: int) -> LookupRows:
    """Return the lists of two or more that hold the expected text: with the label "selected" those of sessions in which
    the user took it, with "expected" all. `seed` samples from long lists. Raises WorkspaceError, NothingToEvaluate."""
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
    """Return the lookups to learn from, of the sessions `taken` or of all. `side`: for messages. Raises
    NothingToEvaluate."""
    random = np.random.default_rng([5, seed % 2**63])
    rows, sizes, positive, sessions, projects = [], [], [], [], set()
    for lookup in lookups:
        projects.add(lookup.project)
        expected = np.flatnonzero(lookup.expected)
        # The training compares rows of a list, so there must be two, and one must be right.
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
        sessions.append(lookup.session)
    if not projects:
        raise NothingToEvaluate(
            f"the {side} side of the logs is empty: files are dealt out by interpret.trainTestSplit, so that few files "
            "leave a side without any; log more or larger projects, and give all of them"
        )
    if not rows:
        of_selected = "nobody took the expected text; try --label expected, or log more"
        of_all = "the expected text is in no list of two or more; log more"
        raise NothingToEvaluate(f"in the {side} side of the logs {of_selected if label == 'selected' else of_all}")
    return LookupRows(
        np.concatenate(rows), np.array(sizes), np.array(positive), frozenset(projects), sessions=tuple(sessions)
    )


class LoggedLookup(msgspec.Struct, frozen=True):
    project: str
    session: str
    number: int
    """A position within its session, from 0."""
    expected: NDArray[np.bool_]
    rows: NDArray[np.float32]
    """Features, as (suggestions x features)."""
    typed: int = 0
    """Characters of the prefix."""
    outcome: str = ""
    texts: Sequence[str] = ()


def read_lookups(path: Path, *, texts: bool = False) -> Iterator[LoggedLookup]:
    """Yield the lookups of a Parquet file in order, with the texts of their suggestions if asked. Raises
    WorkspaceError."""
    last: LoggedLookup | None = None
    columns = ["place", "expected", "project", "session", "query_number", "prefix", "outcome", "text"]
    for batch in tables().batches(path, [*(columns if texts else columns[:-1]), *NAMES]):
        all_rows = np.stack([np.asarray(column) for column in batch.columns[-len(NAMES) :]], axis=1)
        # A list begins at place 1. The last list of a batch may go on in the next batch.
        begins = set(np.flatnonzero(np.asarray(batch.column(0)) == 1).tolist())
        for low, high in pairwise(sorted({0, *begins, len(all_rows)})):
            expected, rows = np.asarray(batch.column(1))[low:high], all_rows[low:high]
            shown = batch.column(7)[low:high].to_pylist() if texts else []
            project, session, number, prefix, outcome = (batch.column(place)[low].as_py() for place in range(2, 7))
            if last and low not in begins:
                expected, rows = np.concatenate([last.expected, expected]), np.concatenate([last.rows, rows])
                shown = [*last.texts, *shown]
            elif last:
                yield last
            last = LoggedLookup(project, session, number, expected, rows, len(prefix), outcome, shown)
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
    """Return a ranker with the number of trees that ranks the validation lookups best. `threads` does not change the
    ranker. Raises ConfigError if the settings name an unknown feature."""
    lgb = lightgbm()
    names = training.names
    for name in settings.features:
        if name not in names:
            raise ConfigError(f"there is no feature {name!r}{guess(name, names)}; known are {', '.join(names)}")
    unseen = [at for at, name in enumerate(names) if settings.features and name not in settings.features]
    learned, checked = (_blank_columns(lookups.rows, unseen) for lookups in (training, validation))
    categories = [names.index(name) for name in training.categories]
    # LightGBM refuses names that are numbers.
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
        # The number of threads changes no tree, and must not change the digest.
        booster=_THREADS.sub("[num_threads: 0]", booster.model_to_string(num_iteration=trees)),
    )


def _both_scores(
    lookups: LookupRows, predicted: NDArray[np.floating[Any]], of: NDArray[np.bool_] | slice = slice(None)
) -> BothScores:
    shown = -lookups.rows[:, lookups.names.index("position")]
    return BothScores(before=scores(lookups, shown, of), after=scores(lookups, predicted, of))


def _blank_columns(rows: NDArray[np.float32], unseen: Sequence[int]) -> NDArray[np.float32]:
    # The columns stay, so the ranker can be given all features. No tree splits at a feature that has one value.
    blanked = rows.copy() if unseen else rows
    blanked[:, unseen] = 0
    return blanked


def _kinds(lookups: LookupRows) -> dict[str, NDArray[np.bool_]]:
    """Return a mask of the lookups of each kind, the most frequent kind first; {} for logs with other features."""
    if lookups.schema != SCHEMA:
        return {}
    kinds = lookups.rows[lookups.begins + lookups.positive, NAMES.index("kind")]
    masks = {name: kinds == number for number, name in enumerate(KIND_NAMES)}
    return {name: of for name, of in sorted(masks.items(), key=lambda named_mask: -named_mask[1].sum()) if of.any()}


def scores(
    lookups: LookupRows, predicted: NDArray[np.floating[Any]], of: NDArray[np.bool_] | slice = slice(None)
) -> Scores:
    """Return the scores of a ranking. `predicted`: a number for each row, the highest is first. `of` selects
    lookups."""
    ranks = rank_positives(lookups, predicted)[of]
    return Scores(
        queries=len(ranks),
        top1=float((ranks <= 1).mean()),
        top5=float((ranks <= 5).mean()),
        mrr=float((1 / ranks).mean()),
    )


def rank_positives(lookups: LookupRows, predicted: NDArray[np.floating[Any]]) -> NDArray[np.float64]:
    """Return the rank of each lookup's positive row. Equal rows share the mean of their ranks."""
    begins = lookups.begins
    own = np.repeat(predicted[begins + lookups.positive], lookups.sizes)
    ahead = np.add.reduceat(predicted > own, begins) + (np.add.reduceat(predicted == own, begins) - 1) / 2
    return np.asarray(1 + ahead, dtype=np.float64)


RANKS = 6
"""Rows, one per rank; the last row is for all further ranks."""
LOOKUPS = 5
"""Columns, one per lookup of a session; the last column is for all further lookups."""


class ShownList(msgspec.Struct, frozen=True):
    session: str
    number: int
    typed: int
    """Characters of the prefix."""
    rank: int | None
    """The rank of the expected text; None if it is not in the list."""
    outcome: str
    """`selected`, `cancelled` or `typed` (the user went on typing)."""


class Fitted(msgspec.Struct, frozen=True, kw_only=True):
    model: UserModel
    sessions: int
    queries: int
    shown: tuple[int, ...]
    """Times that the expected text had each rank, from 1 to RANKS; the last number counts all further ranks."""


def read_lists(path: Path) -> Iterator[ShownList]:
    for lookup in read_lookups(path):
        rank = next((int(place) + 1 for place in np.flatnonzero(lookup.expected)), None)
        yield ShownList(lookup.session, lookup.number, lookup.typed, rank, lookup.outcome)


def fit_user(lists: Sequence[ShownList]) -> Fitted:
    """Return the user model with the likeliest probabilities, smoothed for small counts.

    Length of the first prefix: its share of the sessions. Taking the expected text: (taken + 1)/(shown + 4), by rank
    and number of the lookup. Giving up: (given up + 1/2)/(not taken + 10), by number of the lookup. All ranks from the
    sixth on count together, and all lookups from the fifth on.
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
