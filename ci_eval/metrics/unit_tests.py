"""How close a test comes to the one that a person wrote, by CodeBLEU and its parts; none of it says whether it runs."""

from __future__ import annotations

from collections.abc import Sequence

from ci_eval.contracts import Metric, Observation
from ci_eval.model import MetricInfo, SessionScore
from ci_eval.observing import evaluated, grades_of
from ci_eval.tasks.unit_tests import TASK


def mean(name: str, summary: str, key: str, order: int) -> Metric:
    """The mean of a grade over all evaluated sessions; 0 where there is none."""

    def observe(session: SessionScore) -> Sequence[Observation]:
        return [(grades_of(session).get(key, 0.0), 1.0)] if evaluated(session) else []

    info = MetricInfo(name=name, summary=summary, unit="score", better="higher", shown=name == "CodeBLEU")
    return Metric(info=info, observe=observe, order=(6, 2, order), of=TASK.unit)


def parses(session: SessionScore) -> Sequence[Observation]:
    """Whether the grammar can read all of the test, where there is one."""
    grades = grades_of(session)
    return [(float(grades["parsed"] == 1), 1.0)] if "parsed" in grades and session.lookups[-1].total else []


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
)
