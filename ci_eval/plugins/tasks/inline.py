"""A task in which the text from a token to the end of its line, statement or block is suggested in one piece."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial

from msgspec.structs import replace

from ci_eval.core.base.chance import draw
from ci_eval.core.contracts import Band, Item, Task
from ci_eval.core.model import Kind, Properties, SessionScore, Span, StrategyConfig, Token
from ci_eval.core.model.sessions import status
from ci_eval.core.scoring import grades_of, rank
from ci_eval.core.text_spans import cut

LONGEST = 2000
"""The maximum length of an expected text. Nobody expects a longer text in one suggestion."""

BANDS = (
    Band(name="exact", outcome="first"),
    Band(name="similar, 80 % or more", outcome="near"),
    Band(name="similar, 50 % or more", outcome="low"),
    Band(name="less similar", outcome="absent"),
)


def items(text: str, tokens: Sequence[Token], *, span: Span = "line") -> Iterator[Item]:
    """Yield at most one item per line, which starts at a random token of that line. Items do not overlap."""
    lines: dict[int, list[Token]] = {}
    for token in tokens:
        lines.setdefault(text.rfind("\n", 0, token.offset) + 1, []).append(token)
    end = 0
    for candidates in lines.values():
        # The draw ignores the configured seed, so the items are the same in every run.
        token = min(candidates, key=lambda candidate: draw(0, f"{candidate.offset} {candidate.text}"))
        begin = token.offset
        # Read one character more than the limit to detect a text that is too long.
        expected = cut(text[begin : begin + LONGEST + 1], text[:begin], span)
        if begin >= end and len(expected) <= LONGEST:
            yield Item(begin=begin, end=begin + len(expected), text=expected, properties=Properties(kind=Kind.LINE))
            end = begin + len(expected)


def score(session: SessionScore) -> float:
    """Return the edit similarity of the first suggestion of the last lookup, or 0 if there is none."""
    return grades_of(session).get("editSimilarity", 0.0)


def band(session: SessionScore) -> Band:
    if grades_of(session).get("lineMatch"):
        return BANDS[0]
    close = score(session)
    return BANDS[1 if close >= 0.8 else 2 if close >= 0.5 else 3]


def choose_span(task: Task, strategy: StrategyConfig) -> Task:
    span = strategy.span or "line"
    return replace(task, items=partial(items, span=span), span=span)


TASK = Task(
    name="inline",
    summary="from a token to the end of its line, statement or block, in one piece",
    unit="spans",
    items=items,
    takes_holes=True,
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
    configured=choose_span,
    graders=("inline", "well-formed"),
)
