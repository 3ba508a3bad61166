"""The tasks about one token: to complete it, also with its missing import or with the caret inside it, and to suggest
nothing where the code defines a new name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec.structs import replace

from ci_eval.core import scoring
from ci_eval.core.contracts import Band, Task
from ci_eval.core.model import FAILED, LookupScore, SessionScore, Status, Suggestion
from ci_eval.core.model.sessions import status

COMPLETION = Task(
    name="completion",
    summary="a token at the caret, of which a part may be typed",
    unit="tokens",
    items=scoring.each_token,
    rank=scoring.rank,
    status=status,
    score=scoring.reciprocal_rank,
    bands=scoring.RANK_BANDS,
    band=scoring.band_of_rank,
    legend={"absent": "expected text absent", "low": "rank 6 or lower", "near": "rank 2 to 5", "first": "rank 1"},
    heading="Where the expected text stood",
)

IMPORTS = replace(
    COMPLETION,
    name="imports",
    summary="a name that is not imported yet: is it offered, with the right import?",
    unit="uses of imports",
    of_imports=True,
    rank=scoring.rank_of_import,
    legend={**COMPLETION.legend, "absent": "not offered with the right import"},
    heading="Where the name stood with the right import",
)

INSIDE_BANDS = (
    Band(name="intact", outcome="first", label="code left as it is"),
    Band(name="changed", outcome="low", label="offered, but the code is changed"),
    Band(name="absent", outcome="absent"),
)


def is_offered(session: SessionScore) -> bool:
    """Return whether a suggestion has the name of the token."""
    return session.status not in FAILED and bool(session.lookups) and session.lookups[-1].offered


def is_intact(session: SessionScore) -> bool:
    """Return whether accepting a suggestion leaves the code as it is."""
    return is_offered(session) and session.lookups[-1].rank is not None


def score_inside(session: SessionScore) -> float:
    """Return 1 if accepting a suggestion keeps the code as it is, 0.5 if only the name is right, else 0."""
    return (is_offered(session) + is_intact(session)) / 2


def band_inside(session: SessionScore) -> Band:
    return INSIDE_BANDS[2 - is_offered(session) - is_intact(session)]


INSIDE = Task(
    name="inside",
    summary="a token that is already in the code, with the caret inside it (actions.strategy.prefix: {name: Inside})",
    unit="whole tokens",
    items=scoring.each_token,
    rank=scoring.rank,
    status=status,
    score=score_inside,
    bands=INSIDE_BANDS,
    band=band_inside,
    legend={
        "absent": "the token was not offered",
        "low": "offered, but acceptance changes the code",
        "first": "acceptance leaves the code as it is",
    },
    heading="What acceptance leaves",
    span="around",
)

SILENT_BANDS = (
    Band(name="silent", outcome="first", label="nothing in the way"),
    Band(name="loud", outcome="absent", label="something that begins as typed"),
)


def rank_disturbance(_expected: str, prefix: str, shown: Sequence[Suggestion]) -> int | None:
    """Return the rank of the first suggestion that begins with the typed prefix, or None if there is none."""
    return next((place for place, suggestion in enumerate(shown, 1) if scoring.begins(suggestion, prefix)), None)


def status_of_silence(lookups: Sequence[LookupScore]) -> Status:
    """Return OK if no suggestion of the last list begins with the typed prefix, else NO_MATCH."""
    return Status.OK if lookups[-1].rank is None else Status.NO_MATCH


def is_silent(session: SessionScore) -> bool:
    """Return whether the engine answered and no suggestion begins with the typed prefix."""
    return scoring.evaluated(session) and session.status not in FAILED and scoring.rank_of(session) is None


def band_silence(session: SessionScore) -> Band:
    return SILENT_BANDS[not is_silent(session)]


SILENT = Task(
    name="silent",
    summary="a place at which something new is written (actions.strategy.places): is anything in the way?",
    unit="places",
    items=scoring.each_token,
    of_silence=True,
    rank=rank_disturbance,
    status=status_of_silence,
    score=is_silent,
    bands=SILENT_BANDS,
    band=band_silence,
    legend={"absent": "a suggestion begins with what was typed", "first": "nothing begins with what was typed"},
    heading="What is offered where something new is written",
)

TASKS: Mapping[str, Task] = {task.name: task for task in (COMPLETION, IMPORTS, INSIDE, SILENT)}
