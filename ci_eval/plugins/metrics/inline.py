"""The quality of lines, statements and blocks suggested in one piece: how right the first suggestion is, and whether a
modelled user would accept it.

The user is the inline user of docs/ml.md: a rule, not a table of probabilities, since none is published for
suggestions in one piece.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial

from ci_eval.core.contracts import Metric, Observation
from ci_eval.core.model import FAILED, SessionScore
from ci_eval.core.scoring import evaluated, grade, grades_of, make_metric
from ci_eval.plugins.tasks.inline import TASK


def mean(name: str, summary: str, score: str, unit: str = "share") -> Metric:
    """Return the metric of a grade's mean over all evaluated sessions; 0 if the engine failed."""
    return _metric(name, summary, partial(grade, name=score), unit)


def observe_saving(session: SessionScore, saved: Callable[[SessionScore], float]) -> Sequence[Observation]:
    """Return (characters that the suggestion would have saved typing, characters that were to be typed)."""
    if not evaluated(session):
        return []
    return [(max(saved(session), 0.0), float(len(session.expected_text) - _typed(session)))]


def _typed(session: SessionScore) -> int:
    return len(session.lookups[-1].prefix) if session.lookups else 0


def observe_syntax(session: SessionScore) -> Sequence[Observation]:
    """Return 1 if the file can be parsed with the suggestion in it, else 0; nothing without a suggestion."""
    grades = grades_of(session)
    return [(grades["wellFormed"], 1.0)] if "wellFormed" in grades and session.lookups[-1].total else []


_metric = partial(make_metric, of=TASK.unit, order=(6,), shown=True)
_acceptance = partial(make_metric, of=TASK.unit, order=(6, 1))

KEY, THOUGHT = 0.2, 1.35
"""The seconds for a key, and for a decision: K and M of the keystroke-level model (Card, Moran and Newell 1980)."""
WORTH = math.ceil((THOUGHT + KEY) / KEY)
"""From this number of characters on, reading a suggestion and accepting it by a key is faster than typing it: 8."""


def accepted_length(session: SessionScore) -> int:
    """Return how many characters the user accepts of the first suggestion at the last lookup.

    The user accepts it if its first line is the expected one, or if it is right to its end and adds at least `WORTH`
    characters. If only its first line is right, that line is accepted. A single character is typed sooner.
    """
    grades = grades_of(session)
    typed = _typed(session) if grades else 0
    line, right = (int(grades.get(name, 0)) - typed for name in ("firstLine", "matched"))
    return max(line, right) if line > 1 or right >= WORTH else 0


def _observe_acceptance(session: SessionScore) -> Sequence[Observation]:
    shown = session.status not in FAILED and session.lookups and session.lookups[-1].total
    return [(float(accepted_length(session) > 0), 1.0)] if shown else []


METRICS: tuple[Metric, ...] = (
    mean("LineMatch", "share of sessions whose first suggestion is exactly what was expected", "lineMatch"),
    mean(
        "EditSimilarity",
        "mean similarity of the first suggestion to what was expected (2 · common characters / both lengths)",
        "editSimilarity",
        "score",
    ),
    _metric(
        "MatchedRatio",
        "share of the typing that suggestions save which are right to their end",
        # Characters that are typed already save nothing.
        partial(observe_saving, saved=lambda session: grades_of(session).get("matched", 0.0) - _typed(session)),
    ),
    mean("FirstTokenMatch", "share of sessions whose first suggestion begins with the right token", "firstToken"),
    _metric(
        "WellFormed",
        "share of first suggestions with which the file has no more syntax errors than before",
        observe_syntax,
    ),
    _acceptance(
        "AcceptanceRate",
        "share of the suggestions that the inline user accepts: an exact first line, or 8 right characters",
        _observe_acceptance,
    ),
    _acceptance(
        "AcceptedTyping",
        "share of the typing that the inline user saves by accepting, which takes one key",
        # One key accepts it.
        partial(observe_saving, saved=lambda session: accepted_length(session) - 1.0),
    ),
)
