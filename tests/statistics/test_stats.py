"""Figures and intervals."""

from __future__ import annotations

import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ci_eval.core.contracts import Metric
from ci_eval.core.model import Kind, MetricInfo, Properties, SessionScore, Status
from ci_eval.core.statistics import stats
from ci_eval.core.statistics.stats import (
    MOST,
    Collector,
    Observations,
    Prompts,
    area,
    estimate,
    pack_location,
)
from ci_eval.core.statistics.timing import nearest_rank

INFO = MetricInfo(name="X", summary="", unit="share", better="higher")
SHARE = Metric(info=INFO, observe=lambda session: [])
TIMES = Metric(info=MetricInfo(name="T", summary="", unit="ms", better="lower"), observe=lambda session: [])
IN_TIME = Metric(info=INFO, observe=lambda session: [], timed=True)
MEDIAN = Metric(info=INFO, observe=lambda session: [], statistic="quantile", quantile=0.5)


def observed(metric: Metric, by_file: list[list[float]]) -> Observations:
    seen = Observations(metric)
    collector = Collector([seen])
    for file, values in enumerate(by_file):
        collector.add(pack_location(file), [[(value, 1.0) for value in values]])
    collector.flush_observations()
    return seen


@pytest.mark.parametrize(("q", "value"), [(0.5, 2), (0.51, 3), (0.95, 4), (1.0, 4), (0.01, 1)])
def test_a_quantile_is_the_nearest_rank(q: float, value: float) -> None:
    assert nearest_rank(np.array([4.0, 1.0, 3.0, 2.0]), q) == value


def test_one_file_says_nothing_of_other_code_and_all_of_itself() -> None:
    found = estimate(observed(SHARE, [[0, 1]]), 1)
    assert (found.value, found.low, found.high, found.n) == (0.5, 0.5, 0.5, 2)
    assert (found.elsewhere.low, found.elsewhere.effective) == (None, 1)


def test_a_share_of_many_files_has_an_interval_of_other_code_around_it() -> None:
    found = estimate(observed(SHARE, [[0, 1, place % 2] for place in range(40)]), 1).elsewhere
    assert found.low is not None
    assert found.high is not None
    assert found.low < 0.5 < found.high


def test_of_a_sample_of_sessions_the_figure_of_all_is_uncertain() -> None:
    found = estimate(observed(SHARE, [[0, 1] * 50]), 0.5)
    assert (found.low, found.high) == pytest.approx((0.431, 0.569), abs=0.001)


@pytest.mark.parametrize("metric", [MEDIAN, TIMES, IN_TIME], ids=["median", "mean time", "share in time"])
def test_times_have_no_interval(metric: Metric) -> None:
    assert estimate(observed(metric, [[0, 1, place] for place in range(40)]), 1).low is None


def test_nothing_observed_has_no_figure() -> None:
    assert estimate(Observations(SHARE), 1.0).value is None


def test_ratios_divide_sums_and_do_not_average_files() -> None:
    assert estimate(observed(SHARE, [[1], [0, 0, 0]]), 1.0).value == 0.25


@given(st.lists(st.tuples(st.integers(-3, 0), st.booleans()), max_size=30))
def test_the_area_is_the_share_of_pairs_in_which_what_is_right_scores_higher(seen: list[tuple[int, bool]]) -> None:
    right = [score for score, good in seen if good]
    wrong = [score for score, good in seen if not good]
    wins = [(one > other) + (one == other) / 2 for one in right for other in wrong]
    found = area(np.array([float(score) for score, _ in seen]), np.array([good for _, good in seen], dtype=bool))
    assert found == (pytest.approx(sum(wins) / len(wins)) if wins else None)


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 2), st.integers(0, 9), st.integers(0, 3)), max_size=60))
def test_sums_say_what_all_observations_say(found: list[tuple[int, int, int, int]]) -> None:
    ratio, median = Observations(SHARE), Observations(MEDIAN)
    collector = Collector([ratio, median])
    for file, kind, value, weight in sorted(found):
        collector.add(pack_location(file, kind), [[(value, weight)]] * 2)
    collector.flush_observations()
    seen = np.array([each[2:] for each in found], dtype=float).reshape(-1, 2)
    weight = seen[:, 1].sum()
    assert estimate(ratio, 1.0).value == (pytest.approx(seen[:, 0].sum() / weight) if weight else None)
    for kind in range(3):
        of_kind = seen[[each[1] == kind for each in found]]
        assert estimate(median, 1.0, kind=kind).value == (nearest_rank(of_kind[:, 0], 0.5) if len(of_kind) else None)
        assert estimate(ratio, 1, kind=kind).n == len(of_kind)
    files = [[file] for file in range(5)]
    for file, (share, middle) in enumerate(zip(ratio.list_figures(files), median.list_figures(files), strict=True)):
        of_file = seen[[each[0] == file for each in found]]
        below = of_file[:, 1].sum()
        assert share == (pytest.approx(of_file[:, 0].sum() / below) if below else None)
        assert middle == (nearest_rank(of_file[:, 0], 0.5) if len(of_file) else None)


@given(st.lists(st.tuples(st.floats(0, 1), st.integers(0, 2)), min_size=3, max_size=60))
def test_what_one_metric_observes_does_not_move_another_by_a_bit(found: list[tuple[float, int]]) -> None:
    """Such as times, which differ from run to run."""
    figures = set()
    for times in (0, 1):
        ratio, other = Observations(SHARE), Observations(TIMES)
        collector = Collector([other, ratio])
        for value, slow in found:
            collector.add(pack_location(0), [[(1.0, 1.0)] * slow * times, [(value, 1.0)]])
        collector.flush_observations()
        figures.add(estimate(ratio, 1.0).value)
    assert len(figures) == 1


def test_it_does_not_matter_how_many_are_summed_up_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    by_file = [[0.1 * (place % 7), 0.5] for place in range(100)]
    expected = estimate(observed(SHARE, by_file), 0.5)
    for at_once in (1, 7):
        monkeypatch.setattr(stats, "AT_ONCE", at_once)
        found = estimate(observed(SHARE, by_file), 0.5)
        assert (found.value, found.low, found.high) == pytest.approx((expected.value, expected.low, expected.high))
        assert found.elsewhere == expected.elsewhere


def test_files_of_one_cluster_are_one() -> None:
    seen = observed(SHARE, [[0, 1, place % 2] for place in range(40)])
    assert estimate(seen, 1, clusters=[place // 2 for place in range(40)]).elsewhere.effective == 20


@pytest.mark.parametrize("metric", [SHARE, MEDIAN], ids=["share", "median"])
def test_files_may_be_added_up_apart(metric: Metric) -> None:
    files = [[0.0, 1.0], [], [1.0, 1.0, 0.5], [0.25]]
    whole, apart = observed(metric, files), Observations(metric)
    for begin in (0, 2):
        apart.merge_observations(observed(metric, files[begin : begin + 2]).collected(), begin)
    groups = [[0], [1], [2], [3], [0, 2], [1, 3]]
    assert apart.list_figures(groups) == whole.list_figures(groups)
    assert estimate(apart, 0.5) == estimate(whole, 0.5)


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
