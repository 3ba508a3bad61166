"""The closeness of a test to the expected one, by CodeBLEU and its parts; and the results of tests that are run
(`run.tests`)."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

from ci_eval.core.contracts import Metric, Observation
from ci_eval.core.model import SessionScore
from ci_eval.core.scoring import Observe, grade, grades_of, make_metric, observe_present, observe_withheld
from ci_eval.plugins.tasks.unit_tests import TASK


def _metric(order: int, name: str, summary: str, observe: Observe, unit: str = "share", **facts: Any) -> Metric:
    return make_metric(name, summary, observe, unit, order=(6, 2, order), of=TASK.unit, **facts)


def _similarity(order: int, name: str, summary: str, key: str) -> Metric:
    """Return the metric of a grade's mean over all sessions that could be graded; 0 if the engine failed."""
    return _metric(order, name, summary, partial(grade, name=key), "score", shown=name == "CodeBLEU")


def parses(session: SessionScore) -> Sequence[Observation]:
    """Return 1 if the grammar can read all of the test, else 0; nothing without a test."""
    grades = grades_of(session)
    return [(float(grades["parsed"] == 1), 1.0)] if "parsed" in grades and session.lookups[-1].total else []


# The figures of tests that are run are means over the sessions whose tests were run, or could not be found in the
# engine's answer. There is no figure if no session has the grade.
METRICS: tuple[Metric, ...] = (
    _similarity(1, "CodeBLEU", "similarity to a person's test: the mean of the four parts below", "codebleu"),
    _similarity(2, "NgramMatch", "CodeBLEU's part for sequences of words", "ngram"),
    _similarity(3, "WeightedNgramMatch", "the same, keywords counting five times as much", "weightedNgram"),
    _similarity(4, "SyntaxMatch", "CodeBLEU's part for the syntax tree", "syntax"),
    _similarity(5, "DataflowMatch", "CodeBLEU's part for how values flow between names", "dataflow"),
    _similarity(
        6,
        "CodeBLEUMera",
        "CodeBLEU as MERA CODE computes it, with its way of finding the code",
        "codebleu-mera.codebleu",
    ),
    _metric(7, "Parses", "share of tests without a syntax error", parses),
    _metric(
        8,
        "Runs",
        "share of tests that compile, are found and come to a result, of the records that are run",
        observe_present("runs"),
    ),
    _metric(
        9,
        "Passes",
        "share of tests that pass on the right function, of the records that are run",
        observe_present("passes"),
        shown=True,
    ),
    _metric(
        10,
        "FailsOnStub",
        "share of tests that pass, and fail where the function returns at once",
        observe_present("failsOnStub"),
    ),
    _metric(
        11,
        "MutantsKilled",
        "share of a function's mutants on which its test fails; none for a test that does not pass",
        observe_present("mutantsKilled"),
        shown=True,
    ),
    _metric(
        12,
        "NotRunnable",
        "records whose tests were to be run, and cannot be: the pages say why",
        observe_present("notRunnable"),
        "count",
        better="neither",
        statistic="count",
    ),
    _metric(
        13,
        "TestsWithoutReference",
        "tests for records without a reference: no similarity counts them",
        observe_withheld,
        "count",
        better="neither",
        statistic="count",
    ),
)
