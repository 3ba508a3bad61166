"""The figures of code golf: how few actions it takes to type a line. A session is a line; after the JetBrains plugin's
golf.

Actions of a line = characters typed + suggestion lists called up + steps down to what was taken + Enter for each taken.
"""

from __future__ import annotations

from collections.abc import Sequence

from ci_eval.core.contracts import Metric, Observation
from ci_eval.core.model import MetricInfo, SessionScore
from ci_eval.core.scoring import evaluated
from ci_eval.plugins.tasks.golf import FEWEST_MOVES, TASK, most_moves, moves


def total(session: SessionScore) -> Sequence[Observation]:
    """Return the actions of the line."""
    return [(moves(session), 1.0)] if evaluated(session) else []


def observe_excess_moves(session: SessionScore) -> Sequence[Observation]:
    """Return (moves - fewest, most - fewest); most = each character typed, and each list called up in vain.

    The figure is the ratio of the sums. 0: the first suggestion completed every line; 1: no suggestion was of any use.
    """
    most = most_moves(session)
    # A line of the fewest moves leaves nothing to save.
    if not evaluated(session) or most <= FEWEST_MOVES:
        return []
    return [(moves(session) - FEWEST_MOVES, most - FEWEST_MOVES)]


def perfect(session: SessionScore) -> Sequence[Observation]:
    """Return 1 if one suggestion typed more than half of the line, else 0."""
    longest = max((lookup.accepted for lookup in session.lookups), default=0)
    return [(float(longest * 2 > len(session.expected_text)), 1.0)] if evaluated(session) else []


METRICS: tuple[Metric, ...] = (
    Metric(
        info=MetricInfo(name="TotalMoves", summary="actions it took to type all lines", unit="count", better="lower"),
        observe=total,
        statistic="count",
        without=0.0,
        of=TASK.unit,
        order=(6,),
    ),
    Metric(
        info=MetricInfo(
            name="MovesCountNormalised",
            summary="actions between the fewest possible (0) and typing everything by hand (1)",
            unit="score",
            better="lower",
            # What stands far down a list may take more steps than typing.
            bounds=(0.0, None),
        ),
        observe=observe_excess_moves,
        of=TASK.unit,
        order=(6,),
    ),
    Metric(
        info=MetricInfo(
            name="PerfectLine", summary="lines of which one suggestion typed over half", unit="share", better="higher"
        ),
        observe=perfect,
        of=TASK.unit,
        order=(6,),
    ),
)
