"""The conversion of logged events into training data for rankers and for modelled users."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from ci_eval.core.base.errors import NothingToEvaluate
from ci_eval.plugins.learning.event_rows import FeatureTable, expected_mask
from ci_eval.plugins.learning.events import ShownSession
from ci_eval.plugins.learning.fitting import ShownList
from ci_eval.plugins.learning.training import Label, LoggedLookup, LookupRows, select_lookups


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
