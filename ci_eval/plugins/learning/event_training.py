"""The conversion of logged events into training data for rankers and for modelled users."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from ci_eval.core.base.errors import NothingToEvaluate
from ci_eval.core.logs.features import CATEGORIES, NAMES, SCHEMA
from ci_eval.plugins.learning.events import Feature, Shown, ShownSession
from ci_eval.plugins.learning.fitting import ShownList
from ci_eval.plugins.learning.training import Label, LoggedLookup, LookupRows, select_lookups

POSITION = "position"
"""Feature of the displayed order. It is computed if the logs have none."""
MOST_FEATURES = 2_000
"""The most features that rows can have."""


@dataclass(frozen=True)
class FeatureTable:
    """The features that rows have, and the numbers that stand for words."""

    names: tuple[str, ...]
    words: dict[str, dict[str, int]] = field(default_factory=dict)
    """Feature whose values are words → the number of each."""

    @classmethod
    def of(cls, sessions: Iterable[ShownSession], only: Collection[str] | None = None) -> FeatureTable:
        """Return the table of all features in these sessions, or of those among `only`. If all of ours are present,
        they are the table."""
        seen: dict[str, set[str]] = {}
        for session in sessions:
            for lookup in session.lookups:
                for features in (*lookup.features, lookup.common):
                    for name, value in features.items():
                        seen.setdefault(name, set()).update([value] if isinstance(value, str) else [])
        if set(NAMES) <= seen.keys() and (only is None or set(NAMES) <= set(only)):
            return cls(NAMES)
        # Their order is part of the digest, and must not depend on that of the logs.
        names = sorted(name for name in seen if only is None or name in only)[:MOST_FEATURES]
        words = {name: {word: number for number, word in enumerate(sorted(seen[name]))} for name in names if seen[name]}
        return cls(tuple(dict.fromkeys([*names, POSITION])), words)

    @property
    def categories(self) -> tuple[str, ...]:
        """Return the features whose values have no order."""
        ours = set(CATEGORIES) if set(self.names) <= set(NAMES) else set()
        return tuple(name for name in self.names if name in ours or name in self.words)

    @property
    def schema(self) -> str:
        if self.names == NAMES:
            return SCHEMA
        return hashlib.blake2b("\0".join(self.names).encode(), digest_size=8).hexdigest()

    def rows(self, lookup: Shown) -> NDArray[np.float32]:
        """Return the features of a lookup as (items x features), NaN if a feature is missing."""
        common = lookup.common
        return np.array(
            [
                [self._value(name, features.get(name, common.get(name)), place) for name in self.names]
                for place, features in enumerate(lookup.features, 1)
            ],
            dtype=np.float32,
        )

    def _value(self, name: str, value: Feature, place: int) -> float:
        if isinstance(value, str):
            return float(self.words.get(name, {}).get(value, np.nan))
        if value is None:
            return float(place) if name == POSITION else np.nan
        return value


def present_features(sessions: Iterable[ShownSession]) -> set[str]:
    """Return the features that have a value in some list."""
    return {
        name
        for session in sessions
        for lookup in session.lookups
        for features in (*lookup.features, lookup.common)
        for name, value in features.items()
        if value is not None and value == value  # NaN is no value either
    }


def expected_mask(session: ShownSession, lookup: Shown) -> NDArray[np.bool_]:
    """Return for each item whether it is the wanted one."""
    return np.array([item_id == session.wanted for item_id in lookup.ids], dtype=np.bool_)


def training_rows(
    sessions: Sequence[ShownSession], table: FeatureTable, label: Label, seed: int, *, side: str, project: str
) -> LookupRows:
    """Return the lookups to learn from: with the label "selected", those of sessions in which the item was taken from
    the list; with "expected", also those in which it was typed. Raises NothingToEvaluate."""
    usable = [session for session in sessions if session.outcome == "selected" or label == "expected"]
    if not any(session.wanted is not None for session in usable):
        raise NothingToEvaluate(f"in the {side} side of the logs no item of a list was taken; give more logs")
    rows = select_lookups(_lookups(usable, table, project), label, seed, side=side, taken=None)
    return replace(rows, names=table.names, categories=table.categories, schema=table.schema)


def _lookups(sessions: Sequence[ShownSession], table: FeatureTable, project: str) -> Iterator[LoggedLookup]:
    for session in sessions:
        for number, lookup in enumerate(session.lookups):
            expected = expected_mask(session, lookup)
            # Lists without the wanted item teach nothing, so their features are not needed.
            if expected.any():
                yield LoggedLookup(project, identity(session), number, expected, table.rows(lookup))


def identity(session: ShownSession) -> str:
    """Return a key that no other user's session has."""
    return f"{session.user} {session.session}"


def make_lists(sessions: Sequence[ShownSession]) -> Iterator[ShownList]:
    """Yield the lookups to which a modelled user is fitted."""
    # Cancelled sessions have no wanted item, so their lists count as lists without it.
    for session in sessions:
        last = len(session.lookups) - 1
        for number, lookup in enumerate(session.lookups):
            outcome = session.outcome if number == last else "typed"
            yield ShownList(identity(session), number, lookup.typed, session.rank(lookup), outcome)
