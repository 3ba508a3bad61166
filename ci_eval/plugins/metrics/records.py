"""Metrics of answers to records. A review is measured by the grades of its best comment; a unit test by CodeBLEU, its
parts, and the results of running it (`run.tests`)."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

from msgspec.structs import replace

from ci_eval.core.contracts import Metric, Observation
from ci_eval.core.model import SessionScore
from ci_eval.core.scoring import Observe, evaluated, grade, grades_of, make_metric, observe_present, observe_withheld
from ci_eval.plugins.tasks import code_review, unit_tests


def make_hit_observer(k: int) -> Observe:
    """Return a function that observes, in judged reviews, whether the judge accepts one of the first k comments.

    MERA CODE's card calls this pass@k, although that name usually means an estimate over repeated answers.
    """

    def observe(session: SessionScore) -> Sequence[Observation]:
        # The judge's grade is 1 / the rank of the first comment that it accepts.
        return [(float(first >= 1 / k), 1.0) for first, _ in observe_present("judge")(session)]

    return observe


def comments(session: SessionScore) -> Sequence[Observation]:
    """Return the number of comments in an answer, counting at most ten."""
    if not evaluated(session) or not session.lookups:
        return []
    return [(float(min(session.lookups[-1].total, code_review.MOST)), 1.0)]


def parses(session: SessionScore) -> Sequence[Observation]:
    """Return 1 if the whole test parses without a syntax error, else 0. Answers without a test are not counted."""
    grades = grades_of(session)
    return [(float(grades["parsed"] == 1), 1.0)] if "parsed" in grades and session.lookups[-1].total else []


def _metric(name: str, summary: str, observe: Observe | str, unit: str = "share", **facts: Any) -> Metric:
    """Return a metric. If `observe` is a string, it is the name of a grade; a failure of the engine counts as 0."""
    if isinstance(observe, str):
        observe = partial(grade, name=observe)
    statistic = "count" if unit in {"count", "money"} else "ratio"
    return make_metric(name, summary, observe, unit, statistic=statistic, **facts)


def _where_present(name: str, summary: str, key: str, unit: str = "share", **facts: Any) -> Metric:
    """Return a metric over the sessions that have the grade `key`."""
    return _metric(name, summary, observe_present(key), unit, **facts)


_REVIEWS = (
    _metric("HitAt1", "share of judged reviews whose first comment is accepted", make_hit_observer(1), shown=True),
    _metric("HitAt5", "share of judged reviews with an accepted comment among the first 5", make_hit_observer(5)),
    _metric("HitAt10", "share of judged reviews with an accepted comment among the first 10", make_hit_observer(10)),
    _where_present(
        "AcceptedComments",
        "mean share of an answer's comments that the judge accepts, over judged reviews",
        "accepted",
    ),
    _metric("ChrF", "chrF of the comment that is closest to a reviewer's", "chrf", shown=True),
    _metric("BLEU", "BLEU of the comment that is closest to a reviewer's", "bleu"),
    _metric("ChrFMera", "chrF as MERA CODE has it: a reviewer's comment against the model's", "chrf-mera"),
    _metric("BLEUMera", "BLEU as MERA CODE has it: a reviewer's comment against the model's", "bleu-mera"),
    _metric(
        "Comments",
        "comments per answer: more comments make a hit by chance likelier",
        comments,
        "number",
        better="neither",
    ),
    _where_present("Unscored", "comments on which the judge gave no verdict", "unscored", "count", better="lower"),
    _metric(
        "WithoutReference",
        "reviews of records without a reference, which the metrics of similarity leave out",
        observe_withheld,
        "count",
        better="neither",
    ),
    _where_present(
        "JudgeCost",
        "price of the judge's answers, in the currency of judge.price",
        "judgeCost",
        "money",
        better="lower",
    ),
)
# The metrics of test runs are means over the sessions whose tests were run, or whose answers contained no test. If no
# session has the grade, the metric has no value.
_TESTS = (
    _metric(
        "CodeBLEU",
        "similarity to the project's test: the mean of the four parts below",
        "codebleu",
        "score",
        shown=True,
    ),
    _metric("NgramMatch", "CodeBLEU's part for sequences of words", "ngram", "score"),
    _metric("WeightedNgramMatch", "as NgramMatch, but keywords count five times as much", "weightedNgram", "score"),
    _metric("SyntaxMatch", "CodeBLEU's part for the syntax tree", "syntax", "score"),
    _metric("DataflowMatch", "CodeBLEU's part for how values flow between names", "dataflow", "score"),
    _metric(
        "CodeBLEUMera",
        "CodeBLEU as MERA CODE computes it, also with MERA's way of finding the code",
        "codebleu-mera.codebleu",
        "score",
    ),
    _metric("Parses", "share of tests without a syntax error", parses),
    _where_present(
        "Runs", "share of tests that compile, are found and end with a result, over the records that are run", "runs"
    ),
    _where_present(
        "Passes", "share of tests that pass on the right function, over the records that are run", "passes", shown=True
    ),
    _where_present(
        "FailsOnStub", "share of tests that pass, and that fail if the function returns at once", "failsOnStub"
    ),
    _where_present(
        "MutantsKilled",
        "share of a function's mutants on which the test fails; 0 if the test does not pass on the function",
        "mutantsKilled",
        shown=True,
    ),
    _where_present(
        "NotRunnable",
        "records whose tests should run but cannot: the pages say why",
        "notRunnable",
        "count",
        better="neither",
    ),
    _metric(
        "TestsWithoutReference",
        "tests for records without a reference, which the metrics of similarity leave out",
        observe_withheld,
        "count",
        better="neither",
    ),
)
METRICS: tuple[Metric, ...] = tuple(
    replace(metric, of=task.unit, order=order)
    for order, task, metrics in (((6, 1), code_review.TASK, _REVIEWS), ((6, 2), unit_tests.TASK, _TESTS))
    for metric in metrics
)
