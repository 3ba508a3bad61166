"""The quality of suggested lines, statements and blocks: how similar the first suggestion is to the expected text, and
whether a modelled user would accept it.

The user is the inline user of docs/ml.md. It is a rule because no table of acceptance probabilities is published.
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
    """Return the metric that is the mean of a grade over all evaluated sessions. A failure counts as 0."""
    return _metric(name, summary, partial(grade, name=score), unit)


def observe_saving(session: SessionScore, saved: Callable[[SessionScore], float]) -> Sequence[Observation]:
    """Return (characters that the suggestion would have saved, characters that the user had to type)."""
    if not evaluated(session):
        return []
    return [(max(saved(session), 0.0), float(len(session.expected_text) - _typed(session)))]


def _typed(session: SessionScore) -> int:
    return len(session.lookups[-1].prefix) if session.lookups else 0


def observe_syntax(session: SessionScore) -> Sequence[Observation]:
    """Return 1 if the file parses with the suggestion inserted, else 0. Return nothing without a suggestion."""
    grades = grades_of(session)
    return [(grades["wellFormed"], 1.0)] if "wellFormed" in grades and session.lookups[-1].total else []


_metric = partial(make_metric, of=TASK.unit, order=(6,), shown=True)
_acceptance = partial(make_metric, of=TASK.unit, order=(6, 1))

KEY, THOUGHT = 0.2, 1.35
"""The seconds to press a key and to decide: K and M of the keystroke-level model (Card, Moran and Newell 1980)."""
WORTH = math.ceil((THOUGHT + KEY) / KEY)
"""The minimum length, 8 characters, at which reading and accepting a suggestion is faster than typing it."""


def accepted_length(session: SessionScore) -> int:
    """Return the number of characters that the user accepts of the first suggestion in the last lookup.

    The user accepts the whole suggestion if it is correct to its end and adds at least `WORTH` characters. If only its
    first line is correct, the user accepts that line. A single character is faster to type.
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
        "share of the typing that is saved by suggestions which are right to their end",
        # Characters that the user has already typed are not saved.
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
        # Accepting takes one key.
        partial(observe_saving, saved=lambda session: accepted_length(session) - 1.0),
    ),
)
