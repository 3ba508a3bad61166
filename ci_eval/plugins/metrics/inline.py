"""The quality of lines, statements and blocks suggested in one piece: how right the first suggestion is."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ci_eval.core.contracts import Metric, Observation
from ci_eval.core.model import MetricInfo, SessionScore
from ci_eval.core.scoring import evaluated, grade, grades_of
from ci_eval.plugins.tasks.inline import TASK


def mean(name: str, summary: str, score: str, unit: str = "share") -> Metric:
    """Return the metric of a grade's mean over all evaluated sessions; 0 if the engine failed."""
    return _metric(name, summary, unit, lambda session: grade(session, score))


def observe_saved_characters(session: SessionScore) -> Sequence[Observation]:
    """Return (characters that the suggestion would have saved typing, characters that were to be typed)."""
    if not evaluated(session):
        return []
    typed = len(session.lookups[-1].prefix) if session.lookups else 0
    # What is typed already saves nothing.
    saved = max(grades_of(session).get("matched", 0.0) - typed, 0.0)
    return [(saved, float(len(session.expected_text) - typed))]


def observe_syntax(session: SessionScore) -> Sequence[Observation]:
    """Return 1 if the file can be parsed with the suggestion in it, else 0; nothing without a suggestion."""
    grades = grades_of(session)
    return [(grades["wellFormed"], 1.0)] if "wellFormed" in grades and session.lookups[-1].total else []


def _metric(name: str, summary: str, unit: str, observe: Callable[[SessionScore], Sequence[Observation]]) -> Metric:
    info = MetricInfo(name=name, summary=summary, unit=unit, better="higher", shown=True)
    return Metric(info=info, observe=observe, of=TASK.unit, order=(6,))


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
        "share",
        observe_saved_characters,
    ),
    mean("FirstTokenMatch", "share of sessions whose first suggestion begins with the right token", "firstToken"),
    _metric(
        "WellFormed",
        "share of first suggestions with which the file has no more syntax errors than before",
        "share",
        observe_syntax,
    ),
)
