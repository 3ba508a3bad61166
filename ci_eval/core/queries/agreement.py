"""The agreement of proposed method calls with the expected ones."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from ci_eval.core.model import SessionScore

RECALL_AT = (1, 3, 5, 10)
"""Lengths of lists at which recall is reported."""


def agreement(proposed: Sequence[str], expected: Collection[str]) -> dict[str, float]:
    """Return precision, recall and F1 of the proposals, best first, and the grades of `grade_ranking`. Precision is 1
    if nothing is proposed, recall is 1 if nothing is expected. F1, their harmonic mean, is 0 if no proposal is
    expected."""
    hits, goal = _hits(proposed, expected)
    precision = sum(hits) / len(hits) if hits else 1.0
    recall = _recall(hits, goal, len(hits))
    return {
        "f1": 2 * precision * recall / (precision + recall) if precision + recall else 0.0,
        "precision": precision,
        "recall": recall,
        **grade_ranking(proposed, expected),
    }


def grade_ranking(proposed: Sequence[str], expected: Collection[str]) -> dict[str, float]:
    """Return the grades that depend on the order of the proposals, and not on where they end. `rPrecision` is the share
    of expected calls among as many proposals as there are expected calls. `recall.K` is the share of the expected calls
    among the first K. `reciprocalRank` is that of the first expected call, 0 if there is none."""
    hits, goal = _hits(proposed, expected)
    first = next((rank for rank, hit in enumerate(hits, 1) if hit), None)
    return {
        "rPrecision": _recall(hits, goal, len(goal)),
        "reciprocalRank": 1 / first if first else 0.0,
        **{f"recall.{most}": _recall(hits, goal, most) for most in RECALL_AT},
    }


def _hits(proposed: Sequence[str], expected: Collection[str]) -> tuple[list[bool], set[str]]:
    """Return for each distinct proposal whether it is expected, and the set of expected calls."""
    goal = set(expected)
    # Proposals are a set, so one that is repeated counts once.
    return [call in goal for call in dict.fromkeys(proposed)], goal


def _recall(hits: Sequence[bool], goal: Collection[str], most: int) -> float:
    return sum(hits[:most]) / len(goal) if goal else 1.0


def has_end(session: SessionScore) -> bool:
    """Return whether the proposals of a session are a choice, so that precision and F1 apply to them. Lists of
    completion engines are not."""
    return not session.at_caret


NEXT = ".next"
"""The end of the name of a grade that is about the next state."""


def grade_of_next(session: SessionScore) -> float | None:
    """Return F1, or R-precision if the list has no end, of the first lookup about the next state; None if that adds no
    call, or is not told."""
    grades = session.lookups[0].grades if session.lookups else None
    return (grades or {}).get(("f1" if has_end(session) else "rPrecision") + NEXT)
