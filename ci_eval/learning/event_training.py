"""Logged events → what rankers are trained on, and what modelled users are fitted to."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from ci_eval.errors import NothingToEvaluate
from ci_eval.learning.fitting import ShownList
from ci_eval.learning.logs.event_rows import FeatureTable, wanted_in
from ci_eval.learning.logs.events import ShownSession
from ci_eval.learning.training import Label, LoggedLookup, LookupRows, gathered


def rows_of(
    sessions: Sequence[ShownSession], table: FeatureTable, label: Label, seed: int, *, side: str, project: str
) -> LookupRows:
    """The lookups that one can learn from. With the label "selected", those of sessions in which the item was taken
    from the list; with "expected", also of those in which it was typed. Raises NothingToEvaluate."""
    wanted = [each for each in sessions if each.outcome == "selected" or label == "expected"]
    if not any(each.wanted is not None for each in wanted):
        raise NothingToEvaluate(f"in the {side} side of the logs no item of a list was taken; give more logs")
    found = gathered(_lookups(wanted, table, project), label, seed, side=side, taken=None)
    return replace(found, names=table.names, categories=table.categories, schema=table.schema)


def _lookups(sessions: Sequence[ShownSession], table: FeatureTable, project: str) -> Iterator[LoggedLookup]:
    for session in sessions:
        for number, lookup in enumerate(session.lookups):
            expected = wanted_in(session, lookup)
            # Lists without the wanted item teach nothing: their features need not be put together.
            if expected.any():
                yield LoggedLookup(project, identity(session), number, expected, table.rows(lookup))


def identity(session: ShownSession) -> str:
    """What tells it from the sessions of other users."""
    return f"{session.user} {session.session}"


def lists_of(sessions: Sequence[ShownSession]) -> Iterator[ShownList]:
    """The lookups as a modelled user is fitted to them. What users who gave up had wanted is not told, so that their
    lists count as lists without it."""
    for session in sessions:
        last = len(session.lookups) - 1
        for number, lookup in enumerate(session.lookups):
            outcome = session.outcome if number == last else "typed"
            yield ShownList(identity(session), number, lookup.typed, session.rank(lookup), outcome)
