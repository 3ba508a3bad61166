"""Code golf: how few actions it takes to type a line. A session is a line; after the JetBrains plugin's golf.

Actions of a line = characters typed + suggestion lists called up + steps down to what was taken + Enter for each taken.
"""

from __future__ import annotations

from collections.abc import Sequence

from ci_eval.contracts import Metric, Observation
from ci_eval.model import MetricInfo, SessionScore
from ci_eval.support.observing import evaluated

FEWEST = 2
"""Actions for a line that the first suggestion of the first list completes: the call and Enter."""


def moves(session: SessionScore) -> int:
    """The actions that typing the line took. Where the engine failed, the rest of the line is typed."""
    taken = [lookup for lookup in session.lookups if lookup.selected]
    typed = len(session.expected_text) - sum(lookup.accepted for lookup in taken)
    return typed + len(session.lookups) + sum(lookup.rank or 0 for lookup in taken)


def total(session: SessionScore) -> Sequence[Observation]:
    """The actions of the line."""
    return [(moves(session), 1.0)] if evaluated(session) else []


def normalised(session: SessionScore) -> Sequence[Observation]:
    """(moves - fewest, most - fewest); most = each character typed, and each list called up in vain.

    The figure is the ratio of the sums. 0: the first suggestion completed every line; 1: no suggestion was of any use.
    """
    most = len(session.expected_text) + session.askable
    return [(moves(session) - FEWEST, most - FEWEST)] if evaluated(session) and most > FEWEST else []


def perfect(session: SessionScore) -> Sequence[Observation]:
    """Whether one suggestion typed more than half of the line."""
    longest = max((lookup.accepted for lookup in session.lookups), default=0)
    return [(float(longest * 2 > len(session.expected_text)), 1.0)] if evaluated(session) else []


METRICS: tuple[Metric, ...] = (
    Metric(
        info=MetricInfo(name="TotalMoves", summary="actions it took to type all lines", unit="count", better="lower"),
        observe=total,
        statistic="count",
        of="lines",
    ),
    Metric(
        info=MetricInfo(
            name="MovesCountNormalised",
            summary="actions between the fewest possible (0) and typing everything by hand (1)",
            unit="score",
            better="lower",
        ),
        observe=normalised,
        of="lines",
    ),
    Metric(
        info=MetricInfo(
            name="PerfectLine", summary="lines of which one suggestion typed over half", unit="share", better="higher"
        ),
        observe=perfect,
        of="lines",
    ),
)
