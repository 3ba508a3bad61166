"""The lines, statements and blocks suggested in one piece that a modelled user would accept.

The user is the inline user of docs/user-model.md: a rule, not a table of probabilities, since none is published for
suggestions in one piece.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from ci_eval.core.contracts import Metric, Observation
from ci_eval.core.model import FAILED, MetricInfo, SessionScore
from ci_eval.core.scoring import evaluated, grades_of
from ci_eval.plugins.tasks.inline import TASK

KEY, THOUGHT = 0.2, 1.35
"""The seconds for a key, and for a decision: K and M of the keystroke-level model (Card, Moran and Newell 1980)."""
WORTH = math.ceil((THOUGHT + KEY) / KEY)
"""The number of characters from which on it takes less time to read a suggestion and accept it by one key than to type
it: 8."""


def accepted_length(session: SessionScore) -> int:
    """Return how many characters the first suggestion at the last lookup adds, as far as the user accepts it; 0 if not
    at all.

    The user accepts it if its first line is the expected one, or if it is right to its end and adds at least `WORTH`
    characters. If only its first line is right, that line is accepted. A single character is typed sooner.
    """
    grades = grades_of(session)
    typed = len(session.lookups[-1].prefix) if grades else 0
    line, right = (int(grades.get(name, 0)) - typed for name in ("firstLine", "matched"))
    return max(line, right) if line > 1 or right >= WORTH else 0


def _observe_acceptance(session: SessionScore) -> Sequence[Observation]:
    shown = session.status not in FAILED and session.lookups and session.lookups[-1].total
    return [(float(accepted_length(session) > 0), 1.0)] if shown else []


def _observe_saving(session: SessionScore) -> Sequence[Observation]:
    if not evaluated(session):
        return []
    typed = len(session.lookups[-1].prefix) if session.lookups else 0
    # One key accepts it.
    return [(float(max(accepted_length(session) - 1, 0)), float(len(session.expected_text) - typed))]


def _metric(name: str, summary: str, observe: Callable[[SessionScore], Sequence[Observation]]) -> Metric:
    info = MetricInfo(name=name, summary=summary, unit="share", better="higher")
    return Metric(info=info, observe=observe, of=TASK.unit, order=(6, 1))


METRICS: tuple[Metric, ...] = (
    _metric(
        "AcceptanceRate",
        "share of the suggestions that the inline user accepts: an exact first line, or 8 right characters",
        _observe_acceptance,
    ),
    _metric(
        "AcceptedTyping",
        "share of the typing that the inline user saves by accepting, which takes one key",
        _observe_saving,
    ),
)
