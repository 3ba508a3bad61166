"""The closeness of a test to the expected one, by CodeBLEU and its parts; and the results of tests that are run
(`run.tests`)."""

from __future__ import annotations

from collections.abc import Sequence

from ci_eval.core.contracts import Metric, Observation
from ci_eval.core.model import MetricInfo, SessionScore
from ci_eval.core.scoring import evaluated, grade, grades_of
from ci_eval.plugins.tasks.unit_tests import TASK


def mean(name: str, summary: str, key: str, order: int) -> Metric:
    """Return the metric of a grade's mean over all sessions that could be graded; 0 if the engine failed."""

    def observe(session: SessionScore) -> Sequence[Observation]:
        return grade(session, key)

    info = MetricInfo(name=name, summary=summary, unit="score", better="higher", shown=name == "CodeBLEU")
    return Metric(info=info, observe=observe, order=(6, 2, order), of=TASK.unit)


def parses(session: SessionScore) -> Sequence[Observation]:
    """Return 1 if the grammar can read all of the test, else 0; nothing without a test."""
    grades = grades_of(session)
    return [(float(grades["parsed"] == 1), 1.0)] if "parsed" in grades and session.lookups[-1].total else []


def make_run_metric(name: str, summary: str, key: str, order: int) -> Metric:
    """Return the metric of a grade's mean over the sessions that have it.

    These are the sessions whose tests were run, or could not be found in the engine's answer. There is no figure if no
    session has the grade.
    """

    def observe(session: SessionScore) -> Sequence[Observation]:
        grades = grades_of(session)
        return [(grades[key], 1.0)] if evaluated(session) and key in grades else []

    info = MetricInfo(
        name=name, summary=summary, unit="share", better="higher", shown=name in {"Passes", "MutantsKilled"}
    )
    return Metric(info=info, observe=observe, order=(6, 2, order), of=TASK.unit)


def not_runnable(session: SessionScore) -> Sequence[Observation]:
    """Return an observation of a record whose tests were to be run, and cannot be."""
    grades = grades_of(session)
    return [(grades["notRunnable"], 1.0)] if evaluated(session) and "notRunnable" in grades else []


def observe_ungraded_test(session: SessionScore) -> Sequence[Observation]:
    """Return an observation of a test for a record without a reference, which similarities leave out."""
    return [(1.0, 1.0)] if evaluated(session) and not session.expected_text else []


METRICS: tuple[Metric, ...] = (
    mean("CodeBLEU", "similarity to a person's test: the mean of the four parts below", "codebleu", 1),
    mean("NgramMatch", "CodeBLEU's part for sequences of words", "ngram", 2),
    mean("WeightedNgramMatch", "the same, keywords counting five times as much", "weightedNgram", 3),
    mean("SyntaxMatch", "CodeBLEU's part for the syntax tree", "syntax", 4),
    mean("DataflowMatch", "CodeBLEU's part for how values flow between names", "dataflow", 5),
    mean(
        "CodeBLEUMera",
        "CodeBLEU as MERA CODE computes it, with its way of finding the code",
        "codebleu-mera.codebleu",
        6,
    ),
    Metric(
        info=MetricInfo(name="Parses", summary="share of tests without a syntax error", unit="share", better="higher"),
        observe=parses,
        order=(6, 2, 7),
        of=TASK.unit,
    ),
    make_run_metric(
        "Runs", "share of tests that compile, are found and come to a result, of the records that are run", "runs", 8
    ),
    make_run_metric(
        "Passes", "share of tests that pass on the right function, of the records that are run", "passes", 9
    ),
    make_run_metric(
        "FailsOnStub",
        "share of tests that pass, and fail where the function returns at once",
        "failsOnStub",
        10,
    ),
    make_run_metric(
        "MutantsKilled",
        "share of a function's mutants on which its test fails; none for a test that does not pass",
        "mutantsKilled",
        11,
    ),
    Metric(
        info=MetricInfo(
            name="NotRunnable",
            summary="records whose tests were to be run, and cannot be: the pages say why",
            unit="count",
            better="neither",
        ),
        observe=not_runnable,
        order=(6, 2, 12),
        statistic="count",
        of=TASK.unit,
    ),
    Metric(
        info=MetricInfo(
            name="TestsWithoutReference",
            summary="tests for records without a reference: no similarity counts them",
            unit="count",
            better="neither",
        ),
        observe=observe_ungraded_test,
        order=(6, 2, 13),
        statistic="count",
        of=TASK.unit,
    ),
)
