"""How well proposed calls agree with the expected ones."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from ci_eval.model import SessionScore

RECALL_AT = (1, 3, 5, 10)
"""Lengths of lists at which recall is told."""


def agreement(proposed: Sequence[str], expected: Collection[str]) -> dict[str, float]:
    """Of the proposals, the best first: precision (1 where there are none), recall (1 where nothing is expected), and
    F1, their harmonic mean, which is 0 where nothing is proposed of what is expected.

    Of the list as a ranking: `rPrecision`, the share of expected calls among as many proposals as there are expected
    calls; `recall.K`, the share of the expected calls among the first K; `reciprocalRank` of the first expected one.
    """
    hits, wanted = _hits(proposed, expected)
    precision = sum(hits) / len(hits) if hits else 1.0
    recall = _found(hits, wanted, len(hits))
    return {
        "f1": 2 * precision * recall / (precision + recall) if precision + recall else 0.0,
        "precision": precision,
        "recall": recall,
        **of_ranking(proposed, expected),
    }


def of_ranking(proposed: Sequence[str], expected: Collection[str]) -> dict[str, float]:
    """What of `agreement` depends on the order of the proposals, and not on where they end."""
    hits, wanted = _hits(proposed, expected)
    first = next((rank for rank, hit in enumerate(hits, 1) if hit), None)
    return {
        "rPrecision": _found(hits, wanted, len(wanted)),
        "reciprocalRank": 1 / first if first else 0.0,
        **{f"recall.{most}": _found(hits, wanted, most) for most in RECALL_AT},
    }


def _hits(proposed: Sequence[str], expected: Collection[str]) -> tuple[list[bool], set[str]]:
    """Of each proposal, once, whether it is expected; what is expected."""
    wanted = set(expected)
    return [call in wanted for call in dict.fromkeys(proposed)], wanted


def _found(hits: Sequence[bool], wanted: Collection[str], most: int) -> float:
    return sum(hits[:most]) / len(wanted) if wanted else 1.0


def has_end(session: SessionScore) -> bool:
    """Whether what is proposed is a choice, of which precision and F1 say something; lists of completion engines are
    none."""
    return not session.at_caret
