"""A task in which the caret is inside a token that stands in the code; acceptance should leave the code as it is."""

from __future__ import annotations

from ci_eval.core.contracts import Band, Task
from ci_eval.core.model import FAILED, SessionScore
from ci_eval.core.model.sessions import status
from ci_eval.core.scoring import each_token, rank

BANDS = (
    Band(name="intact", outcome="first", label="code left as it is"),
    Band(name="changed", outcome="low", label="offered, but the code is changed"),
    Band(name="absent", outcome="absent"),
)


def is_offered(session: SessionScore) -> bool:
    """Return whether a suggestion has the name of the token."""
    return session.status not in FAILED and bool(session.lookups) and session.lookups[-1].offered


def is_intact(session: SessionScore) -> bool:
    """Return whether acceptance of a suggestion leaves the code as it is."""
    return is_offered(session) and session.lookups[-1].rank is not None


def score(session: SessionScore) -> float:
    """Return 1 if a suggestion leaves the code as it is, 0.5 if one has the right name, else 0."""
    return (is_offered(session) + is_intact(session)) / 2


def band(session: SessionScore) -> Band:
    return BANDS[2 - is_offered(session) - is_intact(session)]


TASK = Task(
    name="inside",
    summary="a token that stands in the code, with the caret inside it (actions.strategy.prefix: {name: Inside})",
    unit="whole tokens",
    items=each_token,
    rank=rank,
    status=status,
    score=score,
    bands=BANDS,
    band=band,
    legend={
        "absent": "the token was not offered",
        "low": "offered, but acceptance changes the code",
        "first": "acceptance leaves the code as it is",
    },
    heading="What acceptance leaves",
    span="around",
)
