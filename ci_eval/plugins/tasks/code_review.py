"""A task in which engines review a change in at most ten comments, after MERA CODE's task rucodereviewer."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import partial

from ci_eval.core.model import Record, SessionScore, Suggestion
from ci_eval.core.records import find_band, record_task
from ci_eval.core.scoring import grades_of
from ci_eval.plugins.responses.answers import extract_comments

MOST = 10
"""The maximum number of comments; later ones are ignored."""

MERA = re.compile(r"Комментарий \d+:\s*(.*?)(?=Комментарий \d+:|$)", re.DOTALL)
"""MERA CODE's pattern of a comment (code_tasks/rucodereviewer, commit 7972841)."""


def comments(answer: str, _record: Record) -> list[Suggestion] | None:
    """Return the first ten comments, or None if the answer has no comment marker."""
    texts = extract_comments(answer)
    return None if texts is None else [Suggestion(text=text, kind="marker") for text in texts[:MOST]]


def comments_of_mera(answer: str, _record: Record) -> list[str]:
    """Return the non-empty comments among the first ten, as MERA CODE does."""
    return [text for match in MERA.findall(answer)[:MOST] if (text := match.strip())]


def answer(comment: str) -> str:
    return f"Комментарий 1: {comment}"


def rank(expected: str, _prefix: str, shown: Sequence[Suggestion]) -> int | None:
    return next((number for number, suggestion in enumerate(shown, 1) if suggestion.text == expected.strip()), None)


def score(session: SessionScore) -> float:
    """Return 1 / rank of the first comment that the judge accepts; without a judge, the closest comment's chrF."""
    grades = grades_of(session)
    return grades.get("judge", grades.get("chrf", 0.0))


TASK = record_task(
    name="code-review",
    summary="comments on a change, from records with a reviewer's comment",
    unit="reviews",
    rank=rank,
    score=score,
    band=partial(find_band, score),
    heading="How close the best comment comes",
    graders=("chrf", "bleu", "chrf-mera", "bleu-mera"),
    graded=MOST,
    judge="judge",
    best=True,
    read=comments,
    write=answer,
    readers={"chrf-mera": comments_of_mera, "bleu-mera": comments_of_mera},
)
