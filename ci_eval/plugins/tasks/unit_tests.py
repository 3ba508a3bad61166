"""A task in which engines write a test for a function that has a test, after MERA CODE's task UnitTests."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import partial

from ci_eval.core.model import Record, SessionScore, Suggestion
from ci_eval.core.records import find_band, record_task
from ci_eval.core.scoring import grades_of
from ci_eval.plugins.responses.answers import extract_code

MERA = (
    re.compile(r"```(?P<tag>(?:\w|-)+)\n(?P<code>.*?)```", re.DOTALL),
    re.compile(r"```(?P<tag>(?:\w|-)+)\n(?P<code>.*)", re.DOTALL),
    re.compile(r"```(?P<tag>)\n(?P<code>.*?)```", re.DOTALL),
)
"""The patterns of MERA CODE's code fences (code_tasks/unit_tests, commit 7972841). The first pattern that matches is
used: closed fences with a tag, an unclosed fence with a tag, closed fences without a tag."""


def code(answer: str, record: Record) -> list[Suggestion] | None:
    """Return the code of an answer, or None if the code is not in a fence."""
    text = extract_code(answer, record.language, "\n".join((record.instruction, *record.context.values())))
    return None if text is None else [Suggestion(text=text, kind="fence")] if text.strip() else []


def write(expected: str) -> str:
    """Return the test in a fence that is longer than any run of backticks in the test."""
    fence = "`" * max([3, *(len(ticks) + 1 for ticks in re.findall("`+", expected))])
    return f"{fence}\n{expected}\n{fence}"


def code_of_mera(answer: str, record: Record) -> list[str]:
    """Return the code as MERA CODE does: the fences tagged with exactly the language, or else the whole answer."""
    language = record.context.get("language", record.language)
    fences = next((blocks for rule in MERA if (blocks := [(m["tag"], m["code"]) for m in rule.finditer(answer)])), [])
    # A fence without a tag counts as tagged with the language.
    joined = "\n".join(text for tag, text in fences if (tag or language) == language)
    return [joined.strip("\n") if joined.strip() else answer]


def rank(expected: str, _prefix: str, shown: Sequence[Suggestion]) -> int | None:
    return next(
        (number for number, suggestion in enumerate(shown, 1) if suggestion.text.strip() == expected.strip()), None
    )


def score(session: SessionScore) -> float:
    """Return the strict CodeBLEU, or 0 if it is missing."""
    return grades_of(session).get("codebleu", 0.0)


TASK = record_task(
    name="unit-tests",
    summary="a test for a function, from records with the project's test",
    unit="tests",
    rank=rank,
    score=score,
    band=partial(find_band, score),
    heading="How close the test comes",
    graders=("codebleu-strict", "codebleu-mera"),
    runner="execution",
    read=code,
    write=write,
    readers={"codebleu-mera": code_of_mera},
)
