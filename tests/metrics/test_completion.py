"""Metrics of masked tokens: agreement with ir-measures on recorded predictions."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ci_eval.core.catalogs import metrics
from ci_eval.core.contracts import Pairing
from ci_eval.core.interpret.grading import Grading
from ci_eval.core.model import Kind, Lookup, Properties, SessionScore, Suggestion
from ci_eval.core.statistics.stats import Collector, Observations, estimate, pack_location
from ci_eval.plugins.graders.names import GRADERS
from ci_eval.plugins.tasks.tokens import TASK
from tests.needs import need_module

F1, LCS = GRADERS["subtoken-f1"], GRADERS["subtoken-lcs"]

RECORDED = json.loads((Path(__file__).parent / "predictions.json").read_text())
METRICS = {metric.info.name: metric for metric in metrics.load()}


def session(number: int, expected: str, predictions: list[str]) -> SessionScore:
    shown = tuple(Suggestion(text=each) for each in predictions)
    lookup = Lookup(prefix="", suggestions=shown, total=len(shown), rank=TASK.rank(expected, "", shown), latency=1)
    graded = Grading(TASK, "python", Path()).grade(expected, None, lookup)
    return SessionScore(
        id=str(number),
        file="a.py",
        offset=0,
        expected_text=expected,
        properties=Properties(kind=Kind.VARIABLE),
        status=TASK.status([graded]),
        lookups=(graded,),
    )


SESSIONS = [session(number, **each) for number, each in enumerate(RECORDED)]


def figure(name: str) -> float:
    seen = Observations(METRICS[name])
    collector = Collector([seen])
    for each in SESSIONS:
        collector.add(pack_location(0), [METRICS[name].observe(each)])
    collector.flush_observations()
    value = estimate(seen, 1).value
    assert value is not None
    return value


@pytest.mark.parametrize(
    ("name", "measure"),
    [
        ("MeanReciprocalRank", "RR"),
        ("MeanAveragePrecision", "AP"),
        ("NDCG", "nDCG"),
        ("RecallAt1", "Success@1"),
        ("RecallAt5", "Success@5"),
    ],
)
def test_figures_of_exact_texts_are_those_of_ir_measures(name: str, measure: str) -> None:
    ir_measures = need_module("ir_measures")
    relevant = [ir_measures.Qrel(str(i), each["expected"], 1) for i, each in enumerate(RECORDED)]
    run = [
        ir_measures.ScoredDoc(str(i), text, -float(place))
        for i, each in enumerate(RECORDED)
        for place, text in enumerate(each["predictions"])
    ]
    (theirs,) = ir_measures.calc_aggregate([ir_measures.parse_measure(measure)], relevant, run).values()
    assert figure(name) == pytest.approx(theirs, abs=1e-12)


@pytest.mark.parametrize(
    ("grader", "at", "best"), [(F1, "SubtokenF1At1", "SubtokenF1Best"), (LCS, "SubtokenLcsAt1", "SubtokenLcsBest")]
)
def test_figures_of_sub_tokens_are_means_of_what_the_graders_say(grader: object, at: str, best: str) -> None:
    def f1(expected: str, given: str) -> float:
        return (
            F1.grade(Pairing(reference=expected, hypothesis=given))["f1"]
            if grader is F1
            else LCS.grade(Pairing(reference=expected, hypothesis=given))["f1"]
        )

    scores = [[f1(each["expected"], text) for text in each["predictions"][:10]] or [0.0] for each in RECORDED]
    assert figure(at) == pytest.approx(sum(each[0] for each in scores) / len(scores))
    assert figure(best) == pytest.approx(sum(map(max, scores)) / len(scores))


def test_figures_of_the_notebook_s_example() -> None:
    one = session(0, "transformSearchResponse", ["searchData", "modifySearchResponseData", "responseSearch"])
    assert one.lookups[0].grades
    assert one.lookups[0].grades["f1"] == pytest.approx(2 / 5)
    assert one.lookups[0].grades["f1.best"] == pytest.approx(0.8)
    assert one.lookups[0].grades["f1.reciprocalRank"] == pytest.approx(0.4)
    assert one.lookups[0].grades["subtoken-lcs.f1.best"] == pytest.approx(0.5714285714)


def test_an_empty_name_is_predicted_by_itself_alone() -> None:
    one = session(0, "_", ["self", "_"])
    assert one.lookups[0].grades
    assert (one.lookups[0].grades["f1"], one.lookups[0].grades["f1.reciprocalRank"]) == (0.0, 0.5)


def test_completion_has_none_of_these_figures() -> None:
    assert METRICS["GradedReciprocalRank"].of == TASK.unit
