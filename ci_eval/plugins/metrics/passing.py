"""The chance that one of several answers of a language model is right."""

from __future__ import annotations

from ci_eval.core.contracts import Metric
from ci_eval.core.model import MetricInfo, SessionScore
from ci_eval.core.scoring import PassAt, grades_of

RIGHT = ("passes", "judge", "lineMatch")
"""The grades that tell if an answer is right: the test passes, the judge accepts a comment, the text is exactly the
expected one."""


def is_right(session: SessionScore) -> bool | None:
    """Return the first of the grades in RIGHT that the session has, as true or false; None if it has none."""
    grades = grades_of(session)
    return next((grades[name] > 0 for name in RIGHT if name in grades), None)


def make_pass_metric(k: int) -> Metric:
    """Return the metric that estimates the chance; see `PassAt`."""
    chance = PassAt(k, is_right)
    answers = "an answer" if k == 1 else f"one of {k} answers"
    info = MetricInfo(
        name=f"PassAt{k}", summary=f"chance that {answers} is right, with at least {k + 1} rounds", unit="share",
        better="higher",
    )  # fmt: skip
    return Metric(info=info, observe=chance.observe, by_round=chance.by_round, order=(6, 9, k), of="models")


METRICS: tuple[Metric, ...] = (make_pass_metric(1), make_pass_metric(5), make_pass_metric(10))
