"""Inline completion: what stands from a token to the end of its line, statement or block is suggested in one piece."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial

from ci_eval.chance import draw
from ci_eval.contracts import Band, Item, Task
from ci_eval.exact import rank, status
from ci_eval.model import Kind, Properties, SessionScore, Span, StrategyConfig, Token
from ci_eval.observing import grades_of
from ci_eval.spans import cut

LONGEST = 2000
"""Characters; nobody wants more of the text at once."""

BANDS = (
    Band(name="exact", outcome="first"),
    Band(name="similar, 80 % or more", outcome="near"),
    Band(name="similar, 50 % or more", outcome="low"),
    Band(name="less similar", outcome="absent"),
)


def items(text: str, tokens: Sequence[Token], *, span: Span = "line") -> Iterator[Item]:
    """One for each line with tokens, from one of these on, which is drawn; none begins within another.

    Which token it is depends on the file alone: on the place and text of each.
    """
    lines: dict[int, list[Token]] = {}
    for token in tokens:
        lines.setdefault(text.rfind("\n", 0, token.offset) + 1, []).append(token)
    end = 0
    for there in lines.values():
        token = min(there, key=lambda each: draw(0, f"{each.offset} {each.text}"))
        begin = token.offset
        wanted = cut(text[begin : begin + LONGEST + 1], text[:begin], span)
        if begin >= end and len(wanted) <= LONGEST:
            yield Item(begin=begin, end=begin + len(wanted), text=wanted, properties=Properties(kind=Kind.LINE))
            end = begin + len(wanted)


def score(session: SessionScore) -> float:
    """The edit similarity of the first suggestion at the last lookup; 0 where there is none."""
    return grades_of(session).get("editSimilarity", 0.0)


def band(session: SessionScore) -> Band:
    """By the edit similarity."""
    if grades_of(session).get("lineMatch"):
        return BANDS[0]
    close = score(session)
    return BANDS[1 if close >= 0.8 else 2 if close >= 0.5 else 3]


def configured(task: Task, strategy: StrategyConfig) -> Task:
    """With the span that is wanted."""
    span = strategy.span or "line"
    return replace(task, items=partial(items, span=span), span=span)


TASK = Task(
    name="inline",
    summary="from a token to the end of its line, statement or block, in one piece",
    unit="spans",
    items=items,
    rank=rank,
    status=status,
    score=score,
    bands=BANDS,
    band=band,
    legend={
        "absent": "less than half similar",
        "low": "at least half similar",
        "near": "at least 80 % similar",
        "first": "exactly what was expected",
    },
    heading="How similar the first suggestion was",
    span="line",
    configured=configured,
    graders=("inline", "well-formed"),
)
