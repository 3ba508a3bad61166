"""How metrics see a session: which lookup they look at, and what is in no denominator."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ci_eval.contracts import Metric, Observation
from ci_eval.model import FAILED, MetricInfo, SessionScore, Status


def evaluated(session: SessionScore) -> bool:
    """Everything but what was skipped: a session the engine failed on is a miss, not a gap."""
    return session.status != Status.SKIPPED


def rank_of(session: SessionScore) -> int | None:
    """Place of the expected text at the last lookup, where the whole prefix was typed; None if absent or failed."""
    if session.status in FAILED or not session.lookups:
        return None
    return session.lookups[-1].rank


FEWEST_MOVES = 2
"""Actions for a line that the first suggestion of the first list completes: the call and Enter."""


def moves(session: SessionScore) -> int:
    """The actions that typing a line took. Where the engine failed, the rest of the line is typed."""
    taken = [lookup for lookup in session.lookups if lookup.selected]
    typed = len(session.expected_text) - sum(lookup.accepted for lookup in taken)
    return typed + len(session.lookups) + sum(lookup.rank or 0 for lookup in taken)


def most_moves(session: SessionScore) -> int:
    """The actions if each character of the line is typed, and each list called up in vain."""
    return len(session.expected_text) + session.askable


def effort(session: SessionScore) -> float:
    """Where a line's moves are between the fewest (0) and the most (1)."""
    return (moves(session) - FEWEST_MOVES) / max(most_moves(session) - FEWEST_MOVES, 1)


def answered(session: SessionScore) -> bool:
    """Whether the last lookup offered anything."""
    return session.status in {Status.OK, Status.NO_MATCH}


def mean_over_sessions(
    name: str, summary: str, value: Callable[[SessionScore], float], unit: str = "share", *, of_the_user: bool = False
) -> Metric:
    """A metric that is the mean of `value` over all evaluated sessions; higher is better."""

    def observe(session: SessionScore) -> Sequence[Observation]:
        return [(value(session), 1.0)] if evaluated(session) else []

    info = MetricInfo(name=name, summary=summary, unit=unit, better="higher")
    return Metric(info=info, observe=observe, of_the_user=of_the_user)


def recall_within(k: int) -> Metric:
    """Share of sessions whose expected text is among the first `k`; empty and failed answers count as misses."""

    def hit(session: SessionScore) -> float:
        rank = rank_of(session)
        return float(rank is not None and rank <= k)

    place = "first" if k == 1 else f"among the first {k}"
    summary = f"share of sessions in which the expected text stood {place}"
    return mean_over_sessions(f"RecallAt{k}", summary, hit, of_the_user=True)
