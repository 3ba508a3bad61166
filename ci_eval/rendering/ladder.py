"""Evaluations in which several numbers of letters are typed: what reports show first, and in one sentence."""

from __future__ import annotations

import re

from ci_eval.model import Evaluation, FilterFigures
from ci_eval.rendering.figures import amount, first_filter, intervals

TYPED = re.compile(r"Prefix (\d+)")
"""The filter of the sessions with so many letters typed."""


def by_length(evaluation: Evaluation) -> dict[int, FilterFigures]:
    """Letters typed → the figures of these sessions, by length; empty where there is no ladder."""
    found = ((TYPED.fullmatch(name), figures) for name, figures in evaluation.filters.items())
    return dict(sorted((int(match[1]), figures) for match, figures in found if match))


def shown_filter(evaluation: Evaluation) -> tuple[str, FilterFigures]:
    """The filter that reports show first: one letter typed, as lists mostly pop up at the first, where that was asked;
    else all sessions."""
    name = "Prefix 1"
    found = evaluation.filters.get(name)
    return (name, found) if found and found.sessions else first_filter(evaluation)


def letters(count: int) -> str:
    """So many letters, in words."""
    return {0: "nothing", 1: "one letter"}.get(count, f"{count} letters")


def about(evaluation: Evaluation, name: str) -> str:
    """What the figures of a filter are of, in an evaluation with several lengths; "" in others."""
    lengths = by_length(evaluation)
    if match := TYPED.fullmatch(name):
        return f"with {letters(int(match[1]))} typed"
    every = ", ".join(map(letters, lengths))
    return f"with {every} typed; each by itself says more" if name == "ALL" and lengths else ""


def sentence(evaluation: Evaluation) -> str:
    """How often the expected text was suggested once one letter was typed; "" where that was not asked."""
    name, figures = shown_filter(evaluation)
    first, five, anywhere = (figures.metrics.get(each) for each in ("RecallAt1", "RecallAt5", "Recall"))
    if not (TYPED.fullmatch(name) and first and five and anywhere):
        return ""
    between = intervals(first, "share")
    return (
        f"With one letter typed, the expected text stood first in {amount(first.value, 'share')} of "
        f"{figures.sessions:,} sessions{f' ({between})' if between else ''}, among the first 5 in "
        f"{amount(five.value, 'share')}, anywhere in the list in {amount(anywhere.value, 'share')}."
    )
