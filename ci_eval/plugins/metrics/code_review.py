"""The quality of review comments. Grades are those of an answer's best comment."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

from ci_eval.core.contracts import Metric, Observation
from ci_eval.core.model import SessionScore
from ci_eval.core.scoring import (
    Observe,
    evaluated,
    grade,
    grades_of,
    make_metric,
    observe_present,
    observe_withheld,
)
from ci_eval.plugins.tasks.code_review import MOST, TASK


def judge_cost(session: SessionScore) -> Sequence[Observation]:
    grades = grades_of(session)
    return [(grades["judgeCost"], 1.0)] if "judgeCost" in grades else []


def make_hit_observer(k: int) -> Observe:
    """Return a function that observes, in judged reviews, if the judge accepts one of the first k comments.

    MERA CODE's card calls that pass@k; it is no estimate over repeated answers, which is what the name usually means.
    """

    def observe(session: SessionScore) -> Sequence[Observation]:
        # The judge's grade is 1 / the rank of the first comment that it accepts.
        return [(float(first >= 1 / k), 1.0) for first, _ in observe_present("judge")(session)]

    return observe


def comments(session: SessionScore) -> Sequence[Observation]:
    """Return the number of comments of an answer that count, ten at most."""
    return [(float(min(session.lookups[-1].total, MOST)), 1.0)] if evaluated(session) and session.lookups else []


def _metric(order: int, name: str, summary: str, observe: Observe | str, unit: str = "share", **facts: Any) -> Metric:
    """Return the metric of what is observed, or of a grade of that name; 0 if the engine failed."""
    if isinstance(observe, str):
        observe = partial(grade, name=observe)
    statistic = "count" if unit in {"count", "money"} else "ratio"
    return make_metric(name, summary, observe, unit, order=(6, 1, order), statistic=statistic, of=TASK.unit, **facts)


METRICS: tuple[Metric, ...] = (
    _metric(1, "HitAt1", "share of judged reviews whose first comment is accepted", make_hit_observer(1), shown=True),
    _metric(2, "HitAt5", "share of judged reviews with an accepted comment among the first 5", make_hit_observer(5)),
    _metric(3, "HitAt10", "share of judged reviews with an accepted comment among the first 10", make_hit_observer(10)),
    _metric(
        4,
        "AcceptedComments",
        "share of an answer's comments that the judge accepts, the mean over judged reviews",
        observe_present("accepted"),
    ),
    _metric(5, "ChrF", "chrF of the comment that is closest to a person's", "chrf", shown=True),
    _metric(6, "BLEU", "BLEU of the comment that is closest to a person's", "bleu"),
    _metric(7, "ChrFMera", "chrF as MERA CODE has it: a person's comment against the model's", "chrf-mera"),
    _metric(8, "BLEUMera", "BLEU as MERA CODE has it: a person's comment against the model's", "bleu-mera"),
    _metric(
        9, "Comments", "comments per answer: the more, the likelier is a hit by chance", comments, "number",
        better="neither",
    ),
    _metric(
        10, "Unscored", "comments on which the judge gave no verdict", observe_present("unscored"), "count",
        better="lower",
    ),
    _metric(
        11, "WithoutReference", "reviews of records without a reference: no similarity counts them",
        observe_withheld, "count", better="neither",
    ),
    _metric(
        12, "JudgeCost", "price of the judge's answers, in the currency of judge.price", judge_cost, "money",
        better="lower",
    ),
)  # fmt: skip
