"""Several projects as a sample of projects like them."""

from __future__ import annotations

import numpy as np
import pytest

from ci_eval.core.model import MetricInfo, Verdict
from ci_eval.core.statistics.projects import FEWEST_ALIKE, differences_over_projects, over_projects

SHARE = MetricInfo(name="Recall", summary="", unit="share", better="higher")
OTHER = MetricInfo(name="RecallAt1", summary="", unit="share", better="higher")


def test_the_interval_is_that_of_student() -> None:
    found = over_projects({"Recall": [0.5, 0.6, 0.7, 0.8, 0.9]}, [SHARE])["Recall"]
    # t(0.975, 4) = 2.776445, s = 0.1581139.
    assert (found.mean, found.low, found.high) == pytest.approx((0.7, 0.7 - 0.196324, 0.7 + 0.196324), abs=1e-5)


def test_several_metrics_take_wider_intervals() -> None:
    values = [0.5, 0.6, 0.7, 0.8, 0.9]
    (alone,) = over_projects({"Recall": values}, [SHARE]).values()
    both = over_projects({"Recall": values, "RecallAt1": values}, [SHARE, OTHER])["Recall"]
    assert both.low is not None
    assert alone.low is not None
    assert both.low < alone.low


@pytest.mark.parametrize(
    ("values", "verdict", "why"),
    [
        ([0.02, 0.03, 0.025, 0.03, 0.02], Verdict.BETTER, ""),
        ([-0.02, -0.03, -0.025, -0.03, -0.02], Verdict.WORSE, ""),
        ([0.02, -0.03, 0.025, -0.03, 0.02], Verdict.NOT_SHOWN, ""),
        ([0.0001, -0.0001, 0.0, 0.0001, 0.0], Verdict.NOT_SHOWN, "to say so of others takes 60"),
        ([0.0001, -0.0001] * FEWEST_ALIKE, Verdict.EQUIVALENT, ""),
        ([0.02, 0.03, 0.04, 0.05], Verdict.NOT_COMPARABLE, "4 of the projects have it, an interval takes 5"),
        ([0.0] * 9, Verdict.NOT_COMPARABLE, "the same in all projects"),
        ([], Verdict.NOT_COMPARABLE, "0 of the projects"),
    ],
)
def test_verdicts_are_of_other_projects(values: list[float], verdict: Verdict, why: str) -> None:
    found = differences_over_projects({"Recall": values}, [SHARE])["Recall"]
    assert (found.verdict, found.n) == (verdict, len(values))
    assert why in found.why


def test_intervals_hold_the_truth_as_often_as_they_say() -> None:
    source = np.random.default_rng(1)
    held = 0
    for _ in range(400):
        found = over_projects({"Recall": [*source.normal(0.5, 0.1, 6)]}, [SHARE])["Recall"]
        held += found.low is not None and found.high is not None and found.low < 0.5 < found.high
    assert 0.92 < held / 400 < 0.98


def test_several_pairs_of_sides_need_stronger_evidence() -> None:
    values = {"Recall": [0.05, 0.06, 0.04, 0.05, 0.07, 0.03]}
    one, three = (differences_over_projects(values, [SHARE], pairs)["Recall"] for pairs in (1, 3))
    assert one.p is not None
    assert three.p == pytest.approx(3 * one.p)
    assert (three.low or 0) < (one.low or 0)
