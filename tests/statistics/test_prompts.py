"""Figures by prompt: equal to those of the metric, and a spread that says what chance alone explains."""

from __future__ import annotations

import random

import pytest

from ci_eval.core.contracts import Metric
from ci_eval.core.model import Kind, MetricInfo, Properties, SessionScore, Status
from ci_eval.core.statistics.prompts import MOST, Prompts


def metric(name: str = "ChrF", unit: str = "share") -> Metric:
    return Metric(info=MetricInfo(name=name, summary="", unit=unit, better="higher"), observe=lambda _: [])


def session(prompt: str | None) -> SessionScore:
    return SessionScore(
        id="1", file="a.txt", offset=0, expected_text="x", status=Status.OK,
        properties=Properties(kind=Kind.RECORD, prompt=prompt),
    )  # fmt: skip


def summed(values: dict[str, list[float]]) -> Prompts:
    prompts = Prompts([metric("Cost", "money"), metric()])
    for prompt, numbers in values.items():
        for number in numbers:
            prompts.add(session(prompt), [[(9.0, 1.0)], [(number, 1.0)]])
    return prompts


def test_each_prompt_has_its_mean_and_all_have_a_spread() -> None:
    figures = summed({"a": [0, 1], "b": [1, 1], "c": [0, 0]}).figures()
    assert figures is not None
    assert figures.sessions == {"a": 2, "b": 2, "c": 2}
    (spread,) = figures.metrics.values()
    assert spread.values == {"a": 0.5, "b": 1.0, "c": 0.0}
    assert (spread.low, spread.high, spread.deviation) == (0.0, 1.0, 0.5)
    # The sampling variance of a's mean is 0.5 / 2, that of the others 0; the root of the mean.
    assert spread.by_chance == pytest.approx((0.25 / 3) ** 0.5)


def test_prompts_that_are_alike_differ_as_much_as_chance_says() -> None:
    chance, ratios = random.Random(3), []
    for _ in range(200):
        figures = summed({f"p{k}": [float(chance.random() < 0.3) for _ in range(40)] for k in range(10)}).figures()
        assert figures is not None
        spread = figures.metrics["ChrF"]
        assert spread.by_chance is not None
        ratios.append(spread.deviation**2 / spread.by_chance**2)
    assert 0.93 < sum(ratios) / len(ratios) < 1.07


def test_files_that_another_process_added_up_count_alike() -> None:
    whole = summed({"a": [0.1, 0.5], "b": [0.3, 0.9]}).figures()
    parts = summed({"a": [0.1]})
    parts.add_all(summed({"a": [0.5], "b": [0.3, 0.9]}))
    assert parts.figures() == whole


@pytest.mark.parametrize("count", [0, 1, 2, 30, MOST + 1])
def test_one_prompt_and_a_prompt_for_each_sample_are_not_told_apart(count: int) -> None:
    assert summed({f"p{number}": [0.5] for number in range(count)}).figures() is None


def test_sessions_without_a_prompt_and_without_a_grade_are_in_no_figure() -> None:
    prompts = summed({"a": [0.5], "b": [1.0]})
    prompts.add(session(None), [[], [(0.0, 1.0)]])
    prompts.add(session("a"), [[], []])
    figures = prompts.figures()
    assert figures is not None
    assert figures.sessions == {"a": 2, "b": 1}
    assert figures.metrics["ChrF"].values == {"a": 0.5, "b": 1.0}
    assert figures.metrics["ChrF"].by_chance is None
