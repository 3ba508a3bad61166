"""Charts as coordinates."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from ci_eval.core.model import ChangePoint, Estimate, ProjectInfo, Sweep
from ci_eval.core.model.comparison import SweptRun
from ci_eval.rendering.charts import (
    BOTTOM,
    HEIGHT,
    LEFT,
    RIGHT,
    TOP,
    WIDTH,
    sweep_charts,
    trend_charts,
)
from tests.rendering.trends import INFO, trend_of


def test_a_trend_fills_its_box_with_its_intervals() -> None:
    (chart,) = trend_charts(trend_of([0.2, 0.4, 0.6], around=0.1), ["Recall", "Unknown"])
    ((first, _, last),) = chart.lines
    assert (first.x, last.x) == (LEFT, WIDTH - RIGHT)
    heights = [float(point.partition(",")[2]) for point in chart.band.split()]
    assert (min(heights), max(heights)) == (TOP, HEIGHT - BOTTOM)
    assert [text for _, text in chart.ticks] == ["10.0%", "40.0%", "70.0%"]


def test_a_change_of_level_stands_between_its_nights_and_a_new_engine_on_its_own() -> None:
    found = ChangePoint(night=2, before=0.5, after=0.8, p=0.01, good=True)
    (chart,) = trend_charts(trend_of([0.5, 0.5, 0.8, 0.8], changes=(found,)), ["Recall"])
    places = [dot.x for dot in chart.lines[0]]
    assert [(places[1] < mark.x < places[2], mark.tone) for mark in chart.marks] == [(True, "better")]
    assert chart.versions == ((places[2], "2", "e 2 from 2026-01-03 on"),)


def test_nights_stand_where_their_time_is_with_dates_between() -> None:
    trend = trend_of([0.5] * 8)
    (chart,) = trend_charts(replace(trend, nights=(*trend.nights[:2], trend.nights[7])), ["Recall"])
    first, second, last = (dot.x for dot in chart.lines[0])
    assert (second - first) / (last - first) == pytest.approx(1 / 7, abs=0.01)
    assert [text for _, _, text in chart.names][:: len(chart.names) - 1] == ["2026-01-01", "2026-01-08"]


def test_a_history_without_times_has_even_steps() -> None:
    trend = trend_of([0.1, 0.2, 0.3])
    (chart,) = trend_charts(
        replace(trend, nights=tuple(replace(each, started="?") for each in trend.nights)), ["Recall"]
    )
    first, second, last = (dot.x for dot in chart.lines[0])
    assert second - first == last - second > 0


def test_a_figure_beyond_its_interval_is_in_the_box() -> None:
    (chart,) = trend_charts(trend_of([0.2, 0.9], around=-0.2), ["Recall"])
    assert all(TOP <= dot.y <= HEIGHT - BOTTOM for dot in chart.lines[0])


def test_a_figure_of_one_night_is_not_drawn() -> None:
    assert trend_charts(trend_of([0.5, None]), ["Recall"]) == []


@pytest.mark.parametrize("values", [("jedi", "words", "zuban"), ("1", "nan", "2")])
def test_a_sweep_over_names_has_no_chart(values: tuple[str, ...]) -> None:
    assert sweep_charts(sweep_over(values)) == []


def test_a_sweep_over_numbers_is_a_line() -> None:
    (chart,) = sweep_charts(sweep_over(("1", "2", "4")))
    assert chart.ticks[0][1] == "40.0%"
    assert [anchor for _, anchor, _ in chart.names] == ["start", "middle", "end"]


def sweep_over(values: tuple[str, ...]) -> Sweep:
    figures = {"Recall": Estimate(value=0.5, low=0.4, high=0.6)}
    runs = tuple(SweptRun(values=(value,), workspace="", sessions=9, figures=figures) for value in values)
    project = ProjectInfo(spec="path:p", name="p", revision="", checksum="")
    return Sweep(title="", project=project, keys=("k",), runs=runs, metrics=(INFO,))
