"""Completion: a token is wanted at the caret, and stands in the list or not."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence

from ci_eval.contracts import Band, Item, Task
from ci_eval.model import LookupScore, SessionScore, Status, Suggestion, Token
from ci_eval.observing import rank_of

BANDS = (
    Band(name="1", outcome="first", label="rank 1"),
    Band(name="2-5", outcome="near", label="rank 2-5"),
    Band(name="6-10", outcome="low", label="rank 6-10"),
    Band(name="11+", outcome="low", label="rank 11+"),
    Band(name="absent", outcome="absent"),
)
LAST = (1, 5, 10)
"""The last rank of each band that has one."""


def items(_text: str, tokens: Sequence[Token]) -> Iterator[Item]:
    """Each token is one."""
    return (
        Item(begin=each.offset, end=each.offset + len(each.text), text=each.text, properties=each.properties)
        for each in tokens
    )


def rank(expected: str, _prefix: str, shown: Sequence[Suggestion]) -> int | None:
    """Of the expected text itself."""
    return next((number for number, found in enumerate(shown, 1) if found.text == expected), None)


def status(lookups: Sequence[LookupScore]) -> Status:
    """As the last lookup ended, when all of the prefix was typed."""
    last = lookups[-1]
    return Status.OK if last.rank is not None else Status.NO_MATCH if last.total else Status.EMPTY


def score(session: SessionScore) -> float:
    """1 / rank, 0 where the text is absent."""
    found = rank_of(session)
    return 1 / found if found else 0.0


def band(session: SessionScore) -> Band:
    """By the rank at the last lookup."""
    found = rank_of(session)
    if found is None:
        return BANDS[-1]
    return BANDS[bisect_left(LAST, found)]


TASK = Task(
    name="completion",
    summary="a token at the caret, with what is typed of it",
    unit="tokens",
    items=items,
    rank=rank,
    status=status,
    score=score,
    bands=BANDS,
    band=band,
    legend={
        "absent": "expected text absent",
        "low": "rank 6 or lower",
        "near": "rank 2 to 5",
        "first": "rank 1",
    },
    heading="Where the expected text stood",
)
