"""A task about places at which something new is written: nothing should be offered there."""

from __future__ import annotations

from collections.abc import Sequence

from ci_eval.core.contracts import Band, Task
from ci_eval.core.model import FAILED, LookupScore, SessionScore, Status, Suggestion
from ci_eval.core.scoring import begins, each_token, evaluated, rank_of

BANDS = (
    Band(name="silent", outcome="first", label="nothing in the way"),
    Band(name="loud", outcome="absent", label="something that begins as typed"),
)


def rank(_expected: str, prefix: str, shown: Sequence[Suggestion]) -> int | None:
    """Return the rank of the first suggestion that begins with what was typed, and None at a silent place."""
    return next((place for place, suggestion in enumerate(shown, 1) if begins(suggestion, prefix)), None)


def status(lookups: Sequence[LookupScore]) -> Status:
    """Return OK at a silent place, with or without a list, else NO_MATCH."""
    return Status.OK if lookups[-1].rank is None else Status.NO_MATCH


def is_silent(session: SessionScore) -> bool:
    """Return whether the engine answered, and nothing that it offers begins with what was typed."""
    return evaluated(session) and session.status not in FAILED and rank_of(session) is None


def band(session: SessionScore) -> Band:
    return BANDS[not is_silent(session)]


TASK = Task(
    name="silent",
    summary="a place at which something new is written (actions.strategy.places): is anything in the way?",
    unit="places",
    items=each_token,
    of_silence=True,
    rank=rank,
    status=status,
    score=is_silent,
    bands=BANDS,
    band=band,
    legend={"absent": "a suggestion begins with what was typed", "first": "nothing begins with what was typed"},
    heading="What is offered where something new is written",
)
